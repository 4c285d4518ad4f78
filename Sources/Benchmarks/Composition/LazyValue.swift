/// A value for several rows that is expensive to create: created once, when it is first needed.
actor LazyValue<Value: Sendable> {
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

    /// The value, or `nil` if it was not needed or could not be created.
    var valueIfMade: Value? {
        get async { try? await making?.value }
    }
}
