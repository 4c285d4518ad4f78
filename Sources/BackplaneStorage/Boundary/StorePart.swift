import Backplane
import Synchronization

/// A component's part of the host's store: its functions, and the collections that have been prepared.
struct StorePart: Sendable {
    private let base: StoreExchange
    /// The call on whose behalf operations are performed, if known.
    var call: Call?
    let log: Log
    private let readiness: Readiness

    /// The collections of a component whose indexes have been, or are being, defined.
    private final class Readiness: Sendable {
        // An array: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
        let collections = Mutex<[(name: String, task: Task<Result<Void, BackplaneError>, Never>)]>([])
    }

    init(_ services: ComponentServices) {
        (base, log) = (StoreExchange(services), services.log)
        readiness = services.attachments.object { Readiness() }
    }

    /// The operations of the call.
    var exchange: StoreExchange { base.during(call) }

    /// Defines a collection's declared indexes, and migrates its records, on first use.
    ///
    /// - Throws: The error that prevented it; the next use retries.
    func prepare<R: Record>(_: R.Type) async throws(BackplaneError) {
        let name = String(reflecting: R.self)
        let task = readiness.collections.withLock { collections in
            if let known = collections.first(where: { $0.name == name }) { return known.task }
            // The task belongs to all who wait for it, not to the first of them, who may be cancelled.
            let task = Task { await CollectionPreparation<R>(base, log).run() }
            collections.append((name, task))
            return task
        }
        let result = await task.value
        if case .failure = result {
            readiness.collections.withLock { collections in collections.removeAll { $0.task == task } }
        }
        try result.get()
    }
}
