import Backplane
import BackplaneNetwork
import Synchronization

/// The exchanges in flight that equal requests share.
///
/// An exchange runs in its own task, and its requesters are its followers. When the last follower leaves, the exchange
/// is cancelled.
package final class EqualExchanges: Sendable {
    /// A requester that waits for the result of an exchange.
    struct Follower: Sendable {
        /// The times until which the follower waits for the result and for its head; `nil` without a limit.
        var end, headEnd: Deadline?
        /// The function that is called when the head of the response has arrived, with the length of the body.
        var headed: @Sendable (Int64?) -> Void
        /// The function that is called with the length of each piece of the body; `nil` if it is not needed.
        var received: (@Sendable (Int) -> Void)?
        /// The function that is called at the end of a body, or before another attempt.
        var paused: @Sendable () -> Void = {}
        /// Whether the follower has not yet been notified of the events before it was added.
        var isBehind = false
    }
    typealias Run = @Sendable (Flight) async throws -> HTTPStreamedResponse
    private let flights = Mutex<[ExchangeIdentity: Flight]>([:])

    package init() {}

    var followers: Int { flights.withLock { $0.values.reduce(0) { $0 + $1.followers } } }

    /// Returns the response to an equal request in flight, or makes the exchange.
    ///
    /// - Parameters:
    ///   - isAlone: A Boolean value that indicates whether the request is refused if an equal one is in flight.
    ///   - run: A function that makes the exchange, and returns the response with its body in memory.
    /// - Returns: The response, and whether another request has made the exchange.
    /// - Throws: The errors of `run`; `CancellationError`; `network.redundant`.
    func join(
        _ identity: ExchangeIdentity, isAlone: Bool, _ follower: Follower, at url: String, run: @escaping Run
    ) async throws -> (response: HTTPStreamedResponse, isShared: Bool) {
        let (flight, place, isFirst) = try flights.withLock { flights throws(BackplaneError) in
            if let flight = flights[identity] {
                guard !isAlone else {
                    throw BackplaneError(
                        .networkRedundant,
                        "an equal request is in flight; wait for its result, or set `equalRequests` to `.allow`",
                        at: url)
                }
                return (flight, flight.add(follower), false)
            }
            let flight = Flight()
            flights[identity] = flight
            return (flight, flight.add(follower), true)
        }
        if place.isBehind { flight.catchUp(follower, place.number) }
        if isFirst {
            flight.begin { [self] in
                defer { end(flight, identity) }
                return try await run(flight)
            }
        }
        let response = try await withTaskCancellationHandler {
            try await flight.result(for: place.number)
        } onCancel: {
            // Under the lock of all flights, so that no follower joins a flight that the last one has left.
            let isEmpty = flights.withLock { flights in
                let isEmpty = flight.leave(place.number)
                if isEmpty, flights[identity] === flight { flights[identity] = nil }
                return isEmpty
            }
            if isEmpty { flight.cancel() }
        }
        return (response, !isFirst)
    }

    /// Makes later requests for a URL start new exchanges, because the resource was changed.
    func forget(_ url: String) {
        let url = HTTPRequest("GET", url).printableURL
        flights.withLock { flights in
            flights = flights.filter { !($0.key.request.isSafe && $0.key.request.url == url) }
        }
    }

    private func end(_ flight: Flight, _ identity: ExchangeIdentity) {
        flights.withLock { if $0[identity] === flight { $0[identity] = nil } }
    }
}

/// An exchange in flight and its followers.
final class Flight: Sendable {
    private typealias Waiter = CheckedContinuation<HTTPStreamedResponse, any Error>
    private struct State {
        var followers: [Int: EqualExchanges.Follower] = [:]
        var waiters: [Int: Waiter] = [:]
        var last = 0
        var task: Task<Void, Never>?
        var isCancelled = false
        /// The length of the body, once the head has arrived.
        var length: Int64??
        var received = 0
        var isPaused = false
        var result: Result<HTTPStreamedResponse, any Error>?
    }
    private let state = Mutex(State())
    private let decoded = DecodedValue()
    /// The lock around the calls of followers' functions, so that each follower is notified in order; the functions may
    /// remove followers.
    private let notices = Mutex(())

    var followers: Int { state.withLock { $0.followers.count } }

    /// Adds a follower, and returns its number.
    ///
    /// A follower that is behind, because the head has already arrived, is notified of nothing until it catches up.
    @discardableResult
    func add(_ follower: EqualExchanges.Follower) -> (number: Int, isBehind: Bool) {
        state.withLock { state in
            let isBehind = state.length != nil
            state.last += 1
            state.followers[state.last] = follower
            state.followers[state.last]?.isBehind = isBehind
            return (state.last, isBehind)
        }
    }

    /// Notifies a follower of all events so far.
    func catchUp(_ follower: EqualExchanges.Follower, _ number: Int) {
        notices.withLock { _ in
            let (length, received, isPaused) = state.withLock { state in
                state.followers[number]?.isBehind = false
                return (state.length, state.received, state.isPaused)
            }
            if let length { follower.headed(length) }
            if received > 0 { follower.received?(received) }
            if isPaused { follower.paused() }
        }
    }

    fileprivate func begin(_ run: @escaping @Sendable () async throws -> HTTPStreamedResponse) {
        let task = Task {
            let result: Result<HTTPStreamedResponse, any Error>
            do { result = .success(try await run()) } catch { result = .failure(error) }
            end(result)
        }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    fileprivate func result(for number: Int) async throws -> HTTPStreamedResponse {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
            let result = state.withLock { state -> Result<HTTPStreamedResponse, any Error>? in
                if let result = state.result { return result }
                guard state.followers[number] != nil else { return .failure(CancellationError()) }
                state.waiters[number] = waiter
                return nil
            }
            if let result { waiter.resume(with: result.map { $0.copy(sharing: decoded) }) }
        }
    }

    /// Removes a follower; returns whether it was the last one.
    fileprivate func leave(_ number: Int) -> Bool {
        let (waiter, isEmpty) = state.withLock { state in
            state.followers[number] = nil
            return (state.waiters.removeValue(forKey: number), state.followers.isEmpty && state.result == nil)
        }
        waiter?.resume(throwing: CancellationError())
        return isEmpty
    }

    fileprivate func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    private func end(_ result: Result<HTTPStreamedResponse, any Error>) {
        let waiters = state.withLock { state in
            defer { (state.waiters, state.followers) = ([:], [:]) }
            state.result = result
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(with: result.map { $0.copy(sharing: decoded) }) }
    }

    /// Notifies the followers of the head of the response, again if another attempt follows.
    func headed(_ length: Int64?) {
        notify { state in
            (state.length, state.received, state.isPaused) = (length, 0, false)
        } by: { follower in
            follower.headed(length)
        }
    }

    @Sendable func received(_ count: Int) {
        notify { state in
            state.received += count
        } by: { follower in
            follower.received?(count)
        }
    }

    func paused() {
        notify { state in
            state.isPaused = true
        } by: { follower in
            follower.paused()
        }
    }

    private func notify(_ change: (inout State) -> Void, by notice: (EqualExchanges.Follower) -> Void) {
        notices.withLock { _ in
            let followers = state.withLock { state in
                change(&state)
                return state.followers.values
            }
            for follower in followers where !follower.isBehind { notice(follower) }
        }
    }

    /// Returns the time left for the follower that waits longest; `nil` without a limit.
    ///
    /// - Parameter hadBody: A Boolean value that indicates whether a head has arrived before.
    func timeLeft(at moment: Deadline, hadBody: Bool) -> Duration? {
        state.withLock { state in
            var latest: Deadline?
            for follower in state.followers.values {
                let ends = [follower.end, hadBody ? nil : follower.headEnd]
                guard let end = ends.compactMap(\.self).min() else { return nil }
                latest = latest.map { max($0, end) } ?? end
            }
            return latest.map { $0 - moment }
        }
    }
}

extension EqualRequests {
    /// Returns the treatment of requests that specify none.
    static func standard(for method: String) -> EqualRequests {
        ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) ? .coalesce : .reject
    }
}

extension HTTPStreamedResponse {
    /// Returns a copy of the response with the same body in memory, which can be read once more.
    fileprivate func copy(sharing decoded: DecodedValue) -> HTTPStreamedResponse {
        guard let bytes = body.bytes else { return self }
        var copy = self
        copy.body = HTTPBodyStream(bytes, sharing: decoded)
        return copy
    }
}
