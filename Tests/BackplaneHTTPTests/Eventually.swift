import Testing

/// Looks again and again until a condition holds.
func eventually(
    _ location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    for _ in 0..<3_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try await condition(), sourceLocation: location)
}
