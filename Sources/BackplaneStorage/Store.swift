public import Backplane
import Synchronization

/// The host's record store for data access controllers: `context.store`.
///
/// Collections belong to the component: no other component can access them, even under the same name.
public struct Store: Sendable {
    private var part: StorePart

    init(_ services: ComponentServices) { part = StorePart(services) }

    /// Returns the store for use by one call.
    ///
    /// Its operations end at the call's deadline with `call.deadline`. The host logs the call's trace with writes.
    ///
    /// ```swift
    /// try await context.store.during(call).collection(Note.self).save(note)
    /// ```
    public func during(_ call: Call) -> Store {
        var store = self
        store.part.call = call
        return store
    }

    /// Returns the collection of one type's records.
    public func collection<R: Record>(_: R.Type = R.self) -> RecordCollection<R> {
        RecordCollection(part, part.exchange)
    }

    /// Runs a closure as a transaction, which reads a single state of the store and commits its changes together.
    ///
    /// ```swift
    /// try await store.transaction { transaction in
    ///     let books = transaction.collection(Book.self), loans = transaction.collection(Loan.self)
    ///     guard var book = try await books.fetch(id), book.copies > 0 else { throw NoCopies() }
    ///     book.copies -= 1
    ///     try await books.save(book)
    ///     try await loans.save(Loan(id: reader, book: id))
    /// }
    /// ```
    ///
    /// If data that the closure has read has changed in the meantime, the closure runs again after a short random
    /// delay. It must therefore have no side effects outside the store. Transactions are serializable. No component
    /// ever waits for another component's closure.
    ///
    /// - Parameters:
    ///   - attempts: The maximum number of times that the closure runs.
    ///   - body: The closure. If it throws, nothing is changed.
    /// - Throws: The errors of the closure; `store.conflict` if every attempt encountered changes, with the record or
    ///   collection of the last conflict; `store.duplicate`; `call.cancelled`; and the errors of ``RecordCollection``.
    public func transaction<Result>(attempts: Int = 32, _ body: (StoreTransaction) async throws -> Result) async throws
        -> Result
    {
        var conflict: BackplaneError?
        for attempt in 0..<max(1, attempts) {
            if attempt > 0 { try await pause(before: attempt) }
            let transaction = StoreTransaction(part)
            do {
                let result = try await body(transaction)
                try await transaction.commit()
                return result
            } catch {
                transaction.end()
                guard let met = transaction.conflict else { throw error }
                conflict = met
            }
        }
        throw BackplaneError(
            .storeConflict,
            "the transaction was abandoned after \(max(1, attempts)) attempts, because data that it had read changed each time; shorten it, or let fewer transactions change the same records",
            at: conflict?.location, causes: conflict.map { [$0] } ?? [])
    }

    /// Waits for a random time, longer for later attempts, so that attempts of several components are spread out.
    private func pause(before attempt: Int) async throws(BackplaneError) {
        do {
            let longest = 500 << min(attempt, 7)
            try await Task.sleep(for: .microseconds(Int.random(in: 0...longest)))
        } catch {
            throw BackplaneError(.callCancelled, "the transaction was cancelled")
        }
    }
}

extension MayUseStore {
    /// The host's record store.
    public var store: Store { Store(services) }
}

extension ManagerContext where Owner: Component {
    /// Unavailable: managers have no store.
    @available(
        *, unavailable,
        message: "a manager cannot use the store: call its data access controller through a wire"
    )
    @_documentation(visibility: internal)
    public var store: Store { Store(services) }
}

// Communication controllers and network services use the network.
extension MayUseNetwork {
    /// Unavailable: components of the network have no store.
    @available(
        *, unavailable,
        message: "a component that uses the network cannot use the store: only its manager's data access controller can"
    )
    @_documentation(visibility: internal)
    public var store: Store { Store(services) }
}

/// A component's part of the host's store: its functions, and the collections that have been prepared.
struct StorePart: Sendable {
    private let base: StoreExchange
    /// The call on whose behalf operations are performed, if known.
    var call: Call?
    let log: Log
    private let readiness: Readiness

    /// The collections of a component with defined indexes, or indexes that are being defined.
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
            // The task belongs to all its waiters, not to the first one, which may be cancelled.
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

extension BackplaneError.Code {
    /// The store cannot be read or written, because of its file, its disk or its permissions.
    public static let storeUnusable = Self(rawValue: "store.unusable")
    /// The store's file is damaged; it was moved aside, or left unchanged.
    public static let storeDamaged = Self(rawValue: "store.damaged")
    /// The value stored under an id cannot be decoded as the requested type.
    public static let storeUndecodable = Self(rawValue: "store.undecodable")
    /// A condition of a write or a query does not hold, because another write has changed the data.
    public static let storeConflict = Self(rawValue: "store.conflict")
    /// Another record has the same values in a unique index.
    public static let storeDuplicate = Self(rawValue: "store.duplicate")
    /// The collection has no index of the requested name.
    public static let storeUnindexed = Self(rawValue: "store.unindexed")
    /// The engine of the store lacks a requested capability, such as full text.
    public static let storeUnsupported = Self(rawValue: "store.unsupported")
}

/// The treatment of a store whose file is damaged.
public enum DamagedStorePolicy: String, Sendable {
    /// Gives the damaged file another name beside the store, and begins a new, empty store.
    case moveAside = "move-aside"
    /// Leaves the file unchanged, and does not open the store.
    case refuse
}
