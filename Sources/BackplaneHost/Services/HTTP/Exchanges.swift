import Backplane
import BackplaneBoundary
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The exchanges of one component in progress, each ended exactly once: by its executor, its limits or its client.
final class Exchanges: Sendable {
    private let network: HostNetwork
    /// The network for the exchanges while the component does not belong to the active manifest.
    private let own: Mutex<ManifestNetwork?>
    /// The managers to which the component belongs.
    private let managers: [String]
    private let clock: any HostClock
    /// The time without progress of a response's body after which an exchange ends.
    private let idleLimit: Duration
    let counts: ExchangeCounts
    private let log: ExchangeLog
    private let component: String
    /// The component's number in the path of calls.
    private let number: UInt16
    private let folder: String
    private let state = Mutex(State())

    private struct State {
        var underWay: [UInt64: Exchange] = [:]
        /// A Boolean value that indicates whether the component will not return.
        var isClosed = false
        /// A Boolean value that indicates whether the exchanges in progress are being ended.
        var isEnding = false
    }

    /// Creates the exchanges of a component.
    ///
    /// - Parameter own: The network for the exchanges if the component does not belong to the active manifest.
    init(
        _ network: HostNetwork, own: ManifestNetwork? = nil, of component: String, number: UInt16 = 0,
        managers: [String], folder: String, clock: any HostClock,
        idleLimit: Duration, _ counts: ExchangeCounts, _ log: ExchangeLog
    ) {
        (self.network, self.component, self.managers, self.clock) = (network, component, managers, clock)
        self.number = number
        (self.idleLimit, self.counts, self.log) = (idleLimit, counts, log)
        self.own = Mutex(own)
        self.folder = folder
        network.note(managers, of: number)
    }

    /// Switches the network for future exchanges; `nil` means that of the active manifest.
    func follow(_ network: ManifestNetwork?) { own.withLock { $0 = network } }

    /// Begins an exchange and returns its number; returns 0 if it was refused, of which the client is notified.
    ///
    /// - Parameter ended: A function that is called after the client has been notified of the end.
    func begin(
        _ request: HTTPRequest, source: ComponentBody? = nil, options: HTTPOptions = HTTPOptions(),
        _ delivery: ExchangeDelivery, _ call: Call, _ client: any ExchangeClient, ended: @escaping @Sendable () -> Void
    ) -> UInt64 {
        let network = own.withLock { $0 } ?? network.active, pipeline = pipeline(in: network, for: call)
        var options = options
        // An executor that is swapped together with the component lets in what the swap waits for.
        options.call = call.made(by: UInt32(number))
        options.sender = component
        do throws(BackplaneError) {
            try pipeline.requireExecutor(for: request, options)
            if let credential = options.credential { try pipeline.requireCredential(credential, for: managers) }
        } catch {
            source?.exchangeEnded()
            client.ended(.failure(error))
            ended()
            return 0
        }
        let id = Callbacks.newID(), trace = call.trace, request = network.request(request, with: trace)
        let exchange = Exchange(id, request, source, options, delivery, client, counts, clock) {
            exchange, status, error in
            self.log.note(
                exchange.request, of: self.component, trace, status: status, error, after: exchange.duration)
        } forget: { exchange in
            // First, so that who sets a deadline in the meantime finds it gone and cancels that.
            self.state.withLock { _ = $0.underWay.removeValue(forKey: exchange.id) }
            self.clock.cancel(exchange.id)
            self.clock.cancel(exchange.watch)
            ended()
        }
        let isOpen = state.withLock { state in
            guard !state.isClosed, !state.isEnding else { return false }
            state.underWay[id] = exchange
            return true
        }
        guard isOpen else {
            exchange.end(.failure(.retired(exchange)))
            return 0
        }
        exchange.begin(pipeline) { [abandoned = self.network.abandoned, folder] in abandoned.remove(from: folder) }
        if let deadline = call.deadline {
            clock.schedule(id, at: deadline) {
                exchange.end(.failure(.deadlinePassed(before: "there was a response")))
            }
            if find(id) == nil { clock.cancel(id) }
        }
        watch(exchange, from: clock.moment + idleLimit)
        return id
    }

    /// Returns the pipeline for the requests with which an account of a credential is signed in.
    ///
    /// - Throws: `network.credential` if there is no such credential, or it is not for this component.
    func pipeline(for credential: String) throws(BackplaneError) -> HTTPPipeline {
        let pipeline = (own.withLock { $0 } ?? network.active).pipeline(of: managers)
        try pipeline.requireCredential(credential, for: managers)
        return pipeline
    }

    /// Returns the pipeline for an exchange that is made for a call.
    ///
    /// The exchange is made on behalf of all components that the call came through. If one of them takes part in
    /// exchanges, the exchange does not pass that part again, even if the component was connected only at run time.
    private func pipeline(in network: ManifestNetwork, for call: Call) -> HTTPPipeline {
        guard network.hasParts else { return network.pipeline(of: managers) }
        return network.pipeline(of: managers + self.network.managers(along: call))
    }

    func find(_ id: UInt64) -> Exchange? { state.withLock { $0.underWay[id] } }

    func cancel(_ id: UInt64) { find(id)?.end(.failure(.exchangeCancelled)) }

    /// Ends all exchanges because their component is no longer running; exchanges that start in the meantime are
    /// refused.
    ///
    /// - Parameter isForGood: A Boolean value that indicates whether later exchanges are also refused, because the
    ///   component will not return.
    func retireAll(forGood isForGood: Bool) {
        let exchanges = state.withLock { state in
            state.isEnding = true
            if isForGood { state.isClosed = true }
            return Array(state.underWay.values)
        }
        for exchange in exchanges { exchange.end(.failure(.retired(exchange))) }
        state.withLock { $0.isEnding = false }
    }

    /// Ends an exchange whose body has been idle for too long.
    private func watch(_ exchange: Exchange, from deadline: Deadline) {
        let limit = idleLimit
        clock.schedule(exchange.watch, at: deadline) { [weak exchange] in
            guard let exchange, let next = exchange.idleDeadline(limit) else { return }
            guard next <= self.clock.moment else { return self.watch(exchange, from: next) }
            exchange.endIdle(limit)
        }
        if find(exchange.id) == nil { clock.cancel(exchange.watch) }
    }
}

extension BackplaneError {
    /// Returns the error for an exchange whose component is no longer running.
    fileprivate static func retired(_ exchange: Exchange) -> BackplaneError {
        BackplaneError(
            .callRetired, "the exchange was ended because its component stopped or was replaced",
            at: exchange.request.printableURL)
    }
}
