import Backplane
public import BackplaneRecords
import BackplaneStorage

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
        ///   - waitingTasks: A function that returns the number of tasks waiting for changes in the store. Requirements
        ///     use it to synchronise. Without it, they wait for a short time instead.
        /// - Throws: ``ConformanceFailure`` if the store does not fulfil the requirement; any other error of the store.
        public func check(_ store: any RecordStore, waitingTasks: (@Sendable () -> Int)? = nil) async throws {
            try await body(RecordStoreTrial(store: store, waitingTasks: waitingTasks))
        }
    }

    /// All requirements.
    public static var requirements: [Requirement] {
        records + batches + ranges + indexes + changes + waits + texts + histories
    }
}

/// An empty store under test, with helpers for the steps of requirements.
struct RecordStoreTrial: Sendable {
    let store: any RecordStore
    let waitingTasks: (@Sendable () -> Int)?

    /// Returns once the given number of tasks are waiting for changes.
    func untilWaiting(_ count: Int, _ file: StaticString = #fileID, _ line: UInt = #line) async throws {
        guard let waitingTasks else { return try await Task.sleep(for: .milliseconds(20)) }
        let end = ContinuousClock.now + .seconds(60)
        while waitingTasks() != count {
            try expect(ContinuousClock.now < end, "\(waitingTasks()) tasks wait, and not \(count)", file, line)
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @discardableResult
    func write(_ changes: RecordChange..., if conditions: RecordCondition..., in namespace: String = "A") async throws
        -> [Int64]
    {
        try await store.write(RecordBatch(changes, if: conditions), in: namespace)
    }

    func save(_ id: String, _ json: String = "{}", in collection: String = "books") -> RecordChange {
        .save(collection: collection, StoredRecord(id: id, value: Array(json.utf8)))
    }

    func delete(_ id: String, in collection: String = "books") -> RecordChange {
        .delete(collection: collection, id: id)
    }

    func define(_ indexes: IndexDefinition..., collection: String = "books", in namespace: String = "A") async throws {
        try await store.define(CollectionDefinition(collection, indexes: indexes), in: namespace)
    }

    func page(
        _ range: RecordRange = RecordRange(), of collection: String = "books", isDescending: Bool = false,
        after: PageCursor? = nil, limit: Int = .max, if conditions: RecordCondition..., in namespace: String = "A"
    ) async throws -> RecordPage {
        try await store.read(
            RecordQuery(
                collection: collection, .range(range), isDescending: isDescending, after: after, limit: limit,
                if: conditions), in: namespace)
    }

    /// Returns the ids of a range, after checking that pages of two and the count agree with them.
    func ids(
        _ range: RecordRange = RecordRange(), of collection: String = "books", isDescending: Bool = false,
        in namespace: String = "A", _ file: StaticString = #fileID, _ line: UInt = #line
    ) async throws -> [String] {
        let ids = try await page(range, of: collection, isDescending: isDescending, in: namespace).records.map(\.id)
        var paged: [String] = [], cursor: PageCursor?
        repeat {
            let page = try await page(
                range, of: collection, isDescending: isDescending, after: cursor, limit: 2, in: namespace)
            paged += page.records.map(\.id)
            cursor = page.next
        } while cursor != nil && paged.count <= ids.count
        try expect(paged, equals: ids, "page by page", file, line)
        let count = try await store.count(RecordQuery(collection: collection, .range(range)), in: namespace)
        try expect(count, equals: ids.count, "the count", file, line)
        return ids
    }

    func record(_ id: String, of collection: String = "books", in namespace: String = "A") async throws -> StoredRecord?
    {
        try await store.read(RecordQuery(collection: collection, ids: [id]), in: namespace).records.first
    }

    func json(_ id: String, of collection: String = "books", in namespace: String = "A") async throws -> String? {
        try await record(id, of: collection, in: namespace).map { String(decoding: $0.value, as: UTF8.self) }
    }

    func changes(since number: Int64, limit: Int = .max, of collection: String = "books") async throws -> ChangePage {
        try await store.changes(of: collection, since: number, limit: limit, in: "A")
    }

    /// Requires an error with a code.
    func requireError(
        _ code: BackplaneError.Code, _ file: StaticString = #fileID, _ line: UInt = #line,
        from body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as BackplaneError {
            return try expect(error.code == code, "expected \(code.rawValue), found \(error)", file, line)
        }
        throw ConformanceFailure("expected \(code.rawValue), and nothing was thrown", file, line)
    }
}
