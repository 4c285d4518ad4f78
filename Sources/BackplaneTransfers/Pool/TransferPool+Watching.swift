public import Backplane
public import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage
import Synchronization

extension TransferPool {
    /// Returns the current state of the transfer with an id.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`.
    public func state(of id: String) async throws(BackplaneError) -> TransferState {
        if let state = state.withLock({ $0.table.entries[ExactText(id)]?.state }) { return state }
        guard let (form, _) = try await TransferRecords.find(id, in: store) else { throw .unknownTransfer(id) }
        return form.state(of: id)
    }

    /// Returns the states of a transfer as a sequence: starting with the current state and ending with the final one.
    ///
    /// A slow reader misses intermediate states, but never the last one. The sequence of a transfer that is not
    /// finished also ends with the pool, or when the transfer is removed.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`.
    public func states(of id: String) async throws(BackplaneError) -> AsyncStream<TransferState> {
        let key = ExactText(id), current = try await state(of: id)
        let (states, watcher) = AsyncStream.makeStream(of: TransferState.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            // It may have ended in the meantime.
            let now = state.table.entries[key]?.state
            watcher.yield(now ?? current)
            guard let now, !now.phase.isFinal, !state.hasStopped else { return nil }
            state.lastWatcher += 1
            state.watchers[key, default: [:]][state.lastWatcher] = watcher
            return state.lastWatcher
        }
        guard let number else {
            if !current.phase.isFinal, let last = try? await state(of: id) { watcher.yield(last) }
            watcher.finish()
            return states
        }
        watcher.onTermination = { [weak self] _ in
            self?.state.withLock { state in
                state.watchers[key]?[number] = nil
                if state.watchers[key]?.isEmpty == true { state.watchers[key] = nil }
            }
        }
        return states
    }

    /// Waits for the state of a transfer to differ from the one that a reader has, and returns it.
    ///
    /// - Parameter number: The number of the state that the reader has; 0 for none. A final state is returned
    ///   immediately.
    /// - Throws: `transfer.unknown`, including if it is removed in the meantime; `host.stopped` if the pool stops;
    ///   `call.cancelled`; `store.unusable`.
    package func state(of id: String, after number: UInt64) async throws(BackplaneError) -> TransferState {
        for await state in try await states(of: id) where state.number != number || state.phase.isFinal { return state }
        guard !Task.isCancelled else { throw BackplaneError(.callCancelled, "the wait for a transfer was cancelled") }
        let state = try await state(of: id)
        if state.phase.isFinal { return state }
        throw BackplaneError(.hostStopped, "the pool of transfers has stopped")
    }

    /// Ends the sequences of a transfer.
    func finishWatchers(of key: ExactText) {
        let watchers = state.withLock { $0.watchers.removeValue(forKey: key) }
        for watcher in watchers?.values.map(\.self) ?? [] { watcher.finish() }
    }

    /// Returns a page of transfers in the order in which they were started.
    ///
    /// - Parameters:
    ///   - isOpen: Whether to return unfinished transfers or finished ones; `nil` means all.
    ///   - limit: The maximum number of states.
    ///   - cursor: The cursor of the previous page; `nil` for the first page.
    /// - Returns: The states, and the cursor of the next page; `nil` after the last one.
    /// - Throws: `store.unusable`.
    public func transfers(
        isOpen: Bool? = nil, limit: Int = 1_000, after cursor: TransferCursor? = nil
    ) async throws(BackplaneError) -> (states: [TransferState], next: TransferCursor?) {
        let page = try await TransferRecords.page(in: store, isOpen: isOpen, limit: limit, after: cursor?.position)
        var states: [TransferState] = []
        for found in page.states {
            var current = state.withLock { $0.table.entries[ExactText(found.id)]?.state }
            if current == nil, !found.phase.isFinal {
                // An open transfer is in memory: this one has ended, or was removed, since its record was read.
                guard let ended = try? await state(of: found.id) else { continue }
                current = ended
            }
            let latest = current ?? found
            if isOpen == true, latest.phase.isFinal { continue }
            states.append(latest)
        }
        return (states, page.next.map { TransferCursor(position: $0) })
    }
}

/// The end of a page of transfers.
public struct TransferCursor: Sendable {
    let position: PageCursor
}
