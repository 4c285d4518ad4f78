import Backplane
import CBackplane

/// A component's access to the host's store through its function table.
struct StoreExchange: Sendable {
    private let services: ComponentServices
    private var call: Call?

    init(_ services: ComponentServices) { self.services = services }

    /// Returns the same access with the frame of a call.
    func during(_ call: Call?) -> StoreExchange {
        var exchange = self
        exchange.call = call
        return exchange
    }

    /// Lends the frame of the call, if there is one.
    private func withFrame<Result>(_ body: (UnsafePointer<bp_call>?) -> Result) -> Result {
        guard let call else { return body(nil) }
        return call.withC { body($0) }
    }

    /// Gives a collection the indexes of a definition.
    func define(_ collection: CollectionDefinition) async throws(BackplaneError) {
        let _: [UInt8] = try await ask { table, component, context in
            collection.withC { table.define(component, $0, nil, answered, context) }
        }
    }

    /// Returns the number of records that a selection has on all of its pages.
    func count(_ selection: StoreSelection) async throws(BackplaneError) -> Int {
        let answer: [UInt8] = try await ask { table, component, context in
            selection.withC { lent in withFrame { table.count(component, lent, $0, answered, context) } }
        }
        guard let count = Int(String(decoding: answer, as: UTF8.self)) else {
            throw BackplaneError(
                .storeUnusable, "expected the number of records from the host, found another value",
                at: selection.collection)
        }
        return count
    }

    /// Returns changes of a collection after a number.
    func changes(of collection: String, since number: Int64, limit: Int) async throws(BackplaneError) -> ChangePage {
        try await ask { table, component, context in
            collection.withBytes {
                table.changes(component, $0, number, UInt64(max(0, limit)), nil, changesRead, context)
            }
        }
    }

    /// Waits until a collection has a change after a number.
    func waitForChange(of collection: String, since number: Int64) async throws(BackplaneError) {
        let _: [UInt8] = try await ask { table, component, context in
            collection.withBytes { table.wait(component, $0, number, nil, answered, context) }
        }
    }

    /// Starts an operation, and waits for its end; cancelling the task cancels the operation.
    private func ask<Value: Sendable>(
        _ start: (bp_store_2, _ component: UInt64, _ context: UnsafeMutableRawPointer) -> UInt64
    ) async throws(BackplaneError) -> Value {
        guard let table = services.host.table(BP_STORE, revision: 2, as: bp_store_2.self) else {
            throw BackplaneError(.interfaceMissing, "this host does not offer \(BP_STORE)/2")
        }
        guard !Task.isCancelled else { throw BackplaneError(.callCancelled, "the task was cancelled") }
        let component = services.handle
        let cancellation = Cancellation { table.pointer.pointee.cancel(component, $0) }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation {
                (continuation: UnsafeContinuation<Result<Value, BackplaneError>, Never>) in
                let context = Unmanaged.passRetained(Waiting(continuation)).toOpaque()
                cancellation.began(start(table.pointer.pointee, component, context))
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }
}

extension StoreExchange: StoreAccess {
    func write(_ batch: RecordBatch) async throws(BackplaneError) -> [Int64] {
        let numbers: [Int64] = try await ask { table, component, context in
            batch.withC { lent in withFrame { table.write(component, lent, $0, written, context) } }
        }
        guard numbers.count == batch.changes.count else {
            throw BackplaneError(
                .storeUnusable,
                "expected \(batch.changes.count) change numbers from the host, found \(numbers.count)")
        }
        return numbers
    }

    func read(_ selection: StoreSelection) async throws(BackplaneError) -> RecordPage {
        try await ask { table, component, context in
            guard let words = selection.search else {
                return selection.withC { lent in withFrame { table.read(component, lent, $0, pageRead, context) } }
            }
            return selection.withC(of: words) { lent in
                withFrame { table.search(component, lent, $0, pageRead, context) }
            }
        }
    }
}

private let answered: bp_done = { context, status, payload in
    Waiting<[UInt8]>.end(context) { () throws(BackplaneError) in try EncodedAnswer(status, payload).get() }
}

private let written: bp_store_written = { context, status, numbers, count, payload in
    Waiting<[Int64]>.end(context) { () throws(BackplaneError) in
        _ = try EncodedAnswer(status, payload).get()
        return Array(UnsafeBufferPointer(start: numbers, count: numbers == nil ? 0 : max(count, 0)))
    }
}

private let pageRead: bp_store_read = { context, status, page, payload in
    Waiting<RecordPage>.end(context) { () throws(BackplaneError) in
        _ = try EncodedAnswer(status, payload).get()
        guard let page else { throw BackplaneError(.storeUnusable, "the host returned no records") }
        return try RecordPage(copying: page)
    }
}

private let changesRead: bp_store_changed = { context, status, changes, payload in
    Waiting<ChangePage>.end(context) { () throws(BackplaneError) in
        _ = try EncodedAnswer(status, payload).get()
        guard let changes else { throw BackplaneError(.storeUnusable, "the host returned no changes") }
        return try ChangePage(copying: changes)
    }
}

private final class Waiting<Value: Sendable>: Sendable {
    private let continuation: UnsafeContinuation<Result<Value, BackplaneError>, Never>

    init(_ continuation: UnsafeContinuation<Result<Value, BackplaneError>, Never>) { self.continuation = continuation }

    static func end(_ context: UnsafeMutableRawPointer?, _ value: () throws(BackplaneError) -> Value) {
        let waiting = Unmanaged<Waiting>.fromOpaque(context!).takeRetainedValue()
        do throws(BackplaneError) {
            waiting.continuation.resume(returning: .success(try value()))
        } catch {
            waiting.continuation.resume(returning: .failure(error))
        }
    }
}

/// The store functions that a collection uses: the functions of the host or of a transaction.
protocol StoreAccess: Sendable {
    func write(_ batch: RecordBatch) async throws(BackplaneError) -> [Int64]
    func read(_ selection: StoreSelection) async throws(BackplaneError) -> RecordPage
    func count(_ selection: StoreSelection) async throws(BackplaneError) -> Int
}

/// A selection of records in the form sent to the host, with values in JSON.
struct StoreSelection: Sendable {
    struct Range: Sendable {
        /// The name of the index; `nil` for the ids.
        var index: String?
        var equal: [[UInt8]] = []
        var from: [UInt8]?
        var isFromIncluded = true
        var to: [UInt8]?
        var isToIncluded = false
        /// A Boolean value that indicates whether `from` is a prefix of the values.
        var isPrefix = false
    }
    var collection: String
    /// The ids of the records; `nil` for a range.
    var ids: [String]?
    /// The range; `nil` for ids and for a search.
    var range: Range?
    /// The name of a full-text index, and the words to search for; `nil` for ids and for a range.
    var search: (index: String, words: String)?
    var isDescending = false
    var isWithoutValues = false
    var after: PageCursor?
    var limit: Int
    var conditions: [RecordCondition] = []

    init(collection: String, range: Range = Range(), limit: Int = .max) {
        (self.collection, self.range, self.limit) = (collection, range, limit)
    }

    init(collection: String, ids: [String]) {
        (self.collection, self.ids, limit) = (collection, ids, .max)
    }

    init(collection: String, index: String, words: String, after: PageCursor?, limit: Int) {
        (self.collection, search, self.after, self.limit) = (collection, (index, words), after, limit)
    }
}
