public import Backplane

/// The client for the host's transfers, as `context.transfers`, or for the transfers of a program's own pool.
///
/// ```swift
/// try await context.transfers.begin(Transfer("text/whale", download: url, to: "whale.epub"))
/// for try await state in context.transfers.states(of: "text/whale") { try await elements.send(state) }
/// ```
///
/// A transfer belongs to the host: it continues while its plugin is swapped, and after a restart of the host. Its id
/// identifies it for all components of the plugin, but not for other plugins. Its files are in the folder of the
/// component that starts it.
public struct TransferClient: Sendable {
    let way: any TransferWay

    package init(_ way: any TransferWay) { self.way = way }

    /// Starts a transfer, or returns the state of an identical transfer with the same id.
    ///
    /// A transfer that is paused, has failed or has been cancelled is resumed.
    ///
    /// - Parameter transfer: The download or upload; its paths are relative to the component's folder, or absolute and
    ///   in it. Its owner is the plugin.
    /// - Throws: `transfer.taken` if another transfer has the id, or downloads to the same file; `transfer.refused` for
    ///   an empty id, a body that is a stream, a URL with credentials, or a digest of another length;
    ///   `network.refused` for a path that escapes the folder; `network.credential`; `store.unusable`;
    ///   `role.forbidden`; `call.retired` once the component has stopped.
    @discardableResult
    public func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState {
        try await way.begin(transfer)
    }

    /// Returns the current state of a transfer.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`; `call.retired` once the component has stopped.
    public func state(of id: String) async throws(BackplaneError) -> TransferState {
        try await way.state(of: id, after: nil)
    }

    /// Returns the states of a transfer as a sequence, from the current one to the final one.
    ///
    /// If no transfer has the id yet, the sequence begins when one is started. A slow reader misses intermediate
    /// states, but never the last one.
    ///
    /// The iteration throws `transfer.unknown` if the transfer is removed; `call.cancelled` when the task is cancelled;
    /// `host.stopped` when the pool stops; and `call.retired` when the component stops or a swap replaces it. The
    /// transfer then continues, and the new code can read its states.
    public func states(of id: String) -> TransferStates { TransferStates(way: way, id: id) }

    /// Pauses a transfer, and returns once it has stopped and its bytes are on the disk.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`; `call.retired` once the component has stopped.
    public func pause(_ id: String) async throws(BackplaneError) { try await way.change(.pause, id) }

    /// Resumes a paused or failed transfer: a download from the interruption, an upload from the beginning.
    ///
    /// - Throws: `transfer.unknown`; `transfer.taken` if another transfer is now downloading to the same file;
    ///   `store.unusable`; `call.retired` once the component has stopped.
    public func resume(_ id: String) async throws(BackplaneError) { try await way.change(.resume, id) }

    /// Cancels a transfer that has not succeeded, and removes its partial file.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`; `call.retired` once the component has stopped.
    public func cancel(_ id: String) async throws(BackplaneError) { try await way.change(.cancel, id) }

    /// Cancels a transfer unless it is finished, and removes it from the pool; a finished file remains.
    ///
    /// - Throws: `transfer.unknown`; `store.unusable`; `call.retired` once the component has stopped.
    public func remove(_ id: String) async throws(BackplaneError) { try await way.change(.remove, id) }
}

/// The states of a transfer, from the current one to the final one.
public struct TransferStates: AsyncSequence, Sendable {
    let way: any TransferWay
    let id: String

    /// Returns a reader, which starts with the current state, or waits for the first one.
    public func makeAsyncIterator() -> Iterator { Iterator(states: self) }

    /// A reader of states.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let states: TransferStates
        fileprivate var last: TransferState?

        /// Returns the next state when it is available; `nil` after the final one.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(BackplaneError)
            -> TransferState?
        {
            guard last?.phase.isFinal != true else { return nil }
            let state = try await states.way.state(of: states.id, after: last?.number ?? 0)
            last = state
            return state
        }
    }
}

extension MayUseNetwork {
    /// The host's transfers.
    public var transfers: TransferClient { TransferClient(TransferExchange(services)) }
}

/// The transport to transfers: through the boundary to the host, or to the program's own pool.
package protocol TransferWay: Sendable {
    func begin(_ transfer: Transfer) async throws(BackplaneError) -> TransferState

    /// Waits for the first state whose number differs from the given one, and returns it.
    ///
    /// - Parameter number: The number; 0 for the first state, which also waits for the transfer to begin; `nil` for the
    ///   current state.
    func state(of id: String, after number: UInt64?) async throws(BackplaneError) -> TransferState

    func change(_ change: TransferChange, _ id: String) async throws(BackplaneError)
}

package enum TransferChange: String, Codable, CaseIterable, Sendable {
    case pause, resume, cancel, remove
}
