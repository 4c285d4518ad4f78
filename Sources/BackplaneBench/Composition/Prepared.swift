/// Something that several rows need and that takes a while to make: made when the first of them asks, once.
actor Prepared<Value: Sendable> {
    private let make: @Sendable () async throws -> Value
    private var making: Task<Value, any Error>?

    init(_ make: @escaping @Sendable () async throws -> Value) {
        self.make = make
    }

    func value() async throws -> Value {
        let task = making ?? Task { [make] in try await make() }
        making = task
        return try await task.value
    }

    /// `nil`: nobody asked, or it could not be made.
    var valueIfMade: Value? {
        get async { try? await making?.value }
    }
}
