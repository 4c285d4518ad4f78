public import Backplane
public import BackplaneNetwork

/// A state machine over the starts, the progress and the ends of loads, which determines what an interface shows.
///
/// An id identifies each load. A key identifies all loads of the same thing, and is used to repeat a failed load.
public struct LoadTracker: Sendable, Equatable {
    /// The number of a load, unique among running loads; for loads of endpoints ``ExchangeEvent/exchange``.
    public typealias ID = UInt64
    /// The kind of an end.
    public enum End: Sendable, Hashable {
        /// An end without an error, which removes the failure of the key.
        case succeeded
        /// An end with an error that is neither a cancellation nor redundant.
        case failed
        /// The load was cancelled; nothing is shown.
        case cancelled
        /// Another load of the same thing was in flight, so nothing was loaded; nothing is shown.
        case redundant

        /// Creates the kind of an end with an error, or without one.
        public init(_ error: BackplaneError?) {
            self =
                switch error?.code {
                case nil: .succeeded
                case .callCancelled: .cancelled
                case .networkRedundant: .redundant
                default: .failed
                }
        }
    }
    private struct Run: Equatable {
        enum Phase {
            case loading
            /// It has a value, and continues, as a stream of values does.
            case settled
            /// Its end changes nothing.
            case cancelled
        }
        var key: String?
        var progress: Double?
        var phase = Phase.loading
    }
    private var runs: [ID: Run] = [:]
    private var counts: [End: Int] = [:]
    private var allFailures: [LoadFailure] = []

    /// Creates a tracker without loads.
    public init() {}

    // MARK: Transitions

    /// Adds a load, and removes the failure of its key; a running load is not added again.
    ///
    /// - Parameter key: The key of the load; `nil` for a load that is only counted, and cannot be repeated.
    public mutating func start(_ id: ID, _ key: String? = nil) {
        guard runs[id] == nil else { return }
        runs[id] = Run(key: key)
        if let key { dismiss(key) }
    }

    /// Notes the completed part of a load, from 0 to 1; `nil` if it is unknown.
    public mutating func progress(_ id: ID, _ fraction: Double?) {
        runs[id]?.progress = fraction.flatMap { $0.isNaN ? nil : min(max($0, 0), 1) }
    }

    /// Notes that a load has a value and continues, as a stream does: only its failure is shown from now on.
    ///
    /// - Returns: `false` for a load that was cancelled, or is unknown.
    @discardableResult
    public mutating func settle(_ id: ID) -> Bool {
        guard let run = runs[id], run.phase != .cancelled else { return false }
        runs[id]?.phase = .settled
        if let key = run.key { dismiss(key) }
        return true
    }

    /// Removes a load, and returns the kind of its end; `nil` for a load that was cancelled earlier or is unknown.
    @discardableResult
    public mutating func end(_ id: ID, _ error: BackplaneError? = nil) -> End? {
        guard let run = runs.removeValue(forKey: id), run.phase != .cancelled else { return nil }
        let end = End(error)
        counts[end, default: 0] += 1
        guard let key = run.key else { return end }
        if end == .succeeded || end == .failed { dismiss(key) }
        if end == .failed, let error { allFailures.append(LoadFailure(key: key, error: error)) }
        return end
    }

    /// Counts the loads of a key, or all loads, as cancelled, and returns their ids; their later ends change nothing.
    public mutating func cancel(_ key: String? = nil) -> [ID] {
        let cancelled = runs.filter { $1.phase != .cancelled && (key == nil || $1.key == key) }.keys.sorted()
        for id in cancelled { runs[id]?.phase = .cancelled }
        if !cancelled.isEmpty { counts[.cancelled, default: 0] += cancelled.count }
        return cancelled
    }

    /// Removes the failure of a key, or all failures.
    public mutating func dismiss(_ key: String? = nil) { allFailures.removeAll { key == nil || $0.key == key } }

    /// Notes that a load was not started, because another load of its key runs.
    public mutating func skip() { counts[.redundant, default: 0] += 1 }

    /// Notes an event of an endpoint's load, or of any exchange of a client.
    ///
    /// - Parameter key: The key of the load; `nil` for a load that is only counted, and cannot be repeated.
    public mutating func note(_ event: ExchangeEvent, _ key: String? = nil) {
        switch event.stage {
        case .start: start(event.exchange, key)
        case .progress: progress(event.exchange, event.fraction)
        // Such as a stream of events, which may never end.
        case .head where event.isStreamed: settle(event.exchange)
        // Between components, an event has only the code of its error.
        case .end:
            end(
                event.exchange,
                event.failure ?? event.error.map { BackplaneError(BackplaneError.Code(rawValue: $0), $0) })
        default: break
        }
    }

    // MARK: Results

    /// Returns whether a load of a key runs, or any load.
    public func isLoading(_ key: String? = nil) -> Bool { !loading(key).isEmpty }

    /// Returns the completed part of the loads of a key, or of all loads; `nil` if it is unknown for one of them.
    public func progress(of key: String? = nil) -> Double? {
        let all = loading(key), known = all.compactMap(\.progress)
        return known.isEmpty || known.count < all.count ? nil : known.reduce(0, +) / Double(known.count)
    }

    /// Returns the failure of a key, or all failures, oldest first; each has the key to repeat.
    public func failures(of key: String? = nil) -> [LoadFailure] {
        key == nil ? allFailures : allFailures.filter { $0.key == key }
    }

    /// Returns the number of loads that have ended in one way.
    public func count(of end: End) -> Int { counts[end] ?? 0 }

    private func loading(_ key: String?) -> [Run] {
        runs.values.filter { $0.phase == .loading && (key == nil || $0.key == key) }
    }
}

/// The failure of a load, which `loads.retry(failure)` repeats.
public struct LoadFailure: Sendable, Equatable {
    /// The key of the failed load.
    public var key: String
    /// The cause, with a code for your program and a message for people.
    public var error: BackplaneError
    /// The reason, for people.
    public var reason: String { error.message }

    /// Creates the record of a failed load.
    public init(key: String, error: BackplaneError) { (self.key, self.error) = (key, error) }
}

extension ExchangeEvent {
    /// The received part of the response's body or, before it, the sent part of the request's; `nil` if it is unknown.
    fileprivate var fraction: Double? {
        func part(_ done: Int64, of total: Int64?) -> Double? {
            guard let total, total > 0 else { return nil }
            return Double(done) / Double(total)
        }
        return received > 0 ? part(received, of: toReceive) : part(sent, of: toSend)
    }
}
