public import Backplane

/// The host's record store for data access controllers: `context.store`.
///
/// Collections belong to the component: no other component can access them, even under the same name.
public struct Store: Sendable {
    private var part: StorePart

    init(_ services: ComponentServices) { part = StorePart(services) }

    /// Returns the store for use by one call.
    ///
    /// Its operations end at the call's deadline with `call.deadline`, and the host logs its trace with writes.
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

    /// Runs a closure as a transaction, whose reads see one state of the store and whose changes are committed
    /// together.
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
    /// If data that it has read has changed in the meantime, the closure runs again after a short random delay, so it
    /// must have no side effects outside the store. Transactions are serializable; no component ever waits for
    /// another's closure.
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
