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

/// Repeats something with ever longer limits until it comes as far as it is meant to: on a busy machine a short limit
/// passes before the server has had the request.
func withLonger(_ limit: Duration, _ isFarEnough: (Duration) async throws -> Bool) async throws {
    var limit = limit
    while try await !isFarEnough(limit) { limit *= 2 }
}
