public import BackplaneRecords

/// The conformance requirements for record stores, for the tests of their authors.
///
/// Each requirement is checked with its own empty store:
///
/// ```swift
/// @Test(arguments: RecordStoreConformance.requirements)
/// func `the store conforms`(requirement: RecordStoreConformance.Requirement) async throws {
///     try await requirement.check(MyRecordStore())
/// }
/// ```
public enum RecordStoreConformance {
    /// One requirement.
    public struct Requirement: Sendable, CustomStringConvertible {
        /// The requirement as a sentence.
        public let description: String
        private let body: @Sendable (RecordStoreTrial) async throws -> Void

        init(_ description: String, _ body: @escaping @Sendable (RecordStoreTrial) async throws -> Void) {
            (self.description, self.body) = (description, body)
        }

        /// Runs the steps of the requirement against a store.
        ///
        /// - Parameters:
        ///   - store: An empty store.
        ///   - waitingTasks: A function that returns the number of tasks waiting for changes in the store, with which
        ///     requirements synchronise. Without it, they wait for a short time instead.
        /// - Throws: ``ConformanceFailure`` if the store does not fulfil the requirement; any other errors that the
        ///   store throws.
        public func check(_ store: any RecordStore, waitingTasks: (@Sendable () -> Int)? = nil) async throws {
            try await body(RecordStoreTrial(store: store, waitingTasks: waitingTasks))
        }
    }

    /// All requirements.
    public static var requirements: [Requirement] {
        records + batches + ranges + indexes + changes + waits + texts + histories
    }
}
