import Backplane
import BackplaneExchange
import BackplaneNetwork
import CBackplane
import Synchronization

/// The exchanges of one component in progress, each ended exactly once: by its executor, its limits or its client.
final class Exchanges: Sendable {
    private let network: HostNetwork
    /// The network for the exchanges while the component does not belong to the active manifest.
    private let own: Mutex<ManifestNetwork?>
    let managers: [String]
    let clock: any HostClock
    private let idleLimit: Duration
    let counts: ExchangeCounts
    private let log: any LogSink
    private let component: String
    /// The component's number in the path of calls.
    private let number: UInt16
    private let folder: String
    /// The folder with the mocks of the component's plugin; `nil` for none.
    private let mocks: String?
    private let state = Mutex(State())

    private struct State {
        var underWay: [UInt64: Exchange] = [:]
        /// The acceptances of responses that the component has yet to judge.
        var unjudged: [UInt64: CacheAcceptance] = [:]
        var isClosed = false
        var isEnding = false
    }

    init(
        _ network: HostNetwork, own: ManifestNetwork? = nil, of component: String, number: UInt16 = 0,
        managers: [String], folder: String, mocks: String? = nil, clock: any HostClock,
        idleLimit: Duration, _ counts: ExchangeCounts, _ log: any LogSink
    ) {
        (self.network, self.component, self.managers, self.clock) = (network, component, managers, clock)
        self.number = number
        (self.idleLimit, self.counts, self.log) = (idleLimit, counts, log)
        self.own = Mutex(own)
        (self.folder, self.mocks) = (folder, mocks)
        network.note(managers, of: number)
    }

    /// Switches the network for future exchanges; `nil` means the network of the active manifest.
    func follow(_ network: ManifestNetwork?) { own.withLock { $0 = network } }

    /// Begins an exchange and returns its number; if the exchange is refused, notifies the client and returns 0.
    func begin(
        _ request: HTTPRequest, source: ComponentBody? = nil, options: HTTPOptions = HTTPOptions(),
        _ delivery: ExchangeDelivery, _ call: Call, _ client: ExchangeClient, ended: @escaping @Sendable () -> Void
    ) -> UInt64 {
        let network = own.withLock { $0 } ?? network.active, senders = senders(in: network, for: call)
        let pipeline = network.pipeline(of: senders)
        var options = options
        // An executor that is swapped together with the component admits the requests for which the swap waits.
        options.call = call.made(by: UInt32(number))
        (options.sender, options.mockFolder) = (component, mocks)
        // Nothing distinguishes the sign-ins of an authenticator from its other requests.
        options.hidesBodies = network.parts(of: senders).contains(.authenticator)
        do throws(BackplaneError) {
            try pipeline.requireExecutor(for: request, options)
            if let credential = options.credential { try pipeline.credentials.require(credential, for: managers) }
        } catch {
            source?.exchangeEnded()
            client.ended(.failure(error))
            ended()
            return 0
        }
        let id = Callbacks.newID(), request = network.request(request, with: call.trace)
        let exchange = Exchange(id, request, source, options, delivery, client, call.trace, in: self, released: ended)
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

    /// Notifies the client of an exchange of its end, with the response's status if there was one.
    func ended(_ exchange: Exchange, status: Int?, _ result: Result<HTTPResponse, BackplaneError>) {
        note(exchange, status: status, result.failure)
        exchange.client.ended(result)
        // First, so that code that sets a deadline in the meantime finds the exchange gone and cancels the deadline.
        state.withLock { _ = $0.underWay.removeValue(forKey: exchange.id) }
        clock.cancel(exchange.id)
        clock.cancel(exchange.watch)
        exchange.released()
    }

    private func note(_ exchange: Exchange, status: Int?, _ error: BackplaneError?) {
        guard log.isEnabled(.debug) else { return }
        var metadata = [
            "component": component, "method": exchange.request.method, "url": exchange.request.printableURL,
            "milliseconds": "\(exchange.duration.nanoseconds / 1_000_000)",
        ]
        metadata["status"] = status.map(String.init)
        metadata["error"] = error?.code.rawValue
        metadata["trace"] = exchange.trace?.id
        log.report(.debug, "exchange ended", metadata)
    }

    func pipeline(for credential: String) throws(BackplaneError) -> HTTPPipeline {
        let pipeline = (own.withLock { $0 } ?? network.active).pipeline(of: managers)
        try pipeline.credentials.require(credential, for: managers)
        return pipeline
    }

    /// Returns the managers on whose behalf an exchange is made for a call.
    ///
    /// These are the managers of all components that the call came through. If one of them takes part in exchanges, the
    /// exchange does not pass that part again, even if the component was connected only at run time.
    private func senders(in network: ManifestNetwork, for call: Call) -> [String] {
        network.hasParts ? managers + self.network.managers(along: call) : managers
    }

    func find(_ id: UInt64) -> Exchange? { state.withLock { $0.underWay[id] } }

    func cancel(_ id: UInt64) {
        withExtendedLifetime(state.withLock { $0.unjudged.removeValue(forKey: id) }) {}  // released outside of the lock
        find(id)?.end(.failure(.exchangeCancelled))
    }

    func accept(_ id: UInt64) { state.withLock { $0.unjudged.removeValue(forKey: id) }?.accept() }

    /// Keeps the acceptance of a response, which the component judges.
    func keep(_ acceptance: CacheAcceptance, of id: UInt64) {
        // A component that judges none of its responses cannot fill the memory.
        let isKept = state.withLock { state in
            guard state.unjudged.count < 1_000, state.underWay[id] != nil else { return false }
            state.unjudged[id] = acceptance
            return true
        }
        guard isKept else { return }
        clock.schedule(Callbacks.newID(), at: clock.moment + .seconds(60)) { [weak self] in
            withExtendedLifetime(self?.state.withLock { $0.unjudged.removeValue(forKey: id) }) {}
        }
    }

    /// Ends all exchanges because their component is no longer running; exchanges that start in the meantime are
    /// refused.
    ///
    /// - Parameter isForGood: Whether later exchanges are also refused, because the component will not return.
    func retireAll(forGood isForGood: Bool) {
        let exchanges = state.withLock { state in
            (state.isEnding, state.unjudged) = (true, [:])
            if isForGood { state.isClosed = true }
            return Array(state.underWay.values)
        }
        for exchange in exchanges { exchange.end(.failure(.retired(exchange))) }
        state.withLock { $0.isEnding = false }
    }

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
    fileprivate static func retired(_ exchange: Exchange) -> BackplaneError {
        BackplaneError(
            .callRetired, "the exchange was ended because its component stopped or was replaced",
            at: exchange.request.printableURL)
    }
}

/// The validated options that a component specified for an exchange.
struct ExchangeTerms {
    let options: HTTPOptions
    /// The absolute path of the file that is the request's body.
    let upload: String?
    /// The absolute path of the file to which the response's body is written.
    let download: String?

    private static let knownFlags = UInt32(
        BP_HTTP_DECOMPRESS | BP_HTTP_REPORT_ATTEMPTS | BP_HTTP_WHOLE | BP_HTTP_REFRESH)

    init(_ options: bp_http_options, in folder: ComponentFolder) throws(BackplaneError) {
        guard options.flags & ~Self.knownFlags == 0 else {
            throw .unsupported("the flags 0x\(String(options.flags & ~Self.knownFlags, radix: 16))")
        }
        for (name, limit) in [
            ("total_ns", options.total_ns), ("head_ns", options.head_ns), ("read_ns", options.read_ns),
        ] where limit < 0 {
            throw BackplaneError(.networkRefused, "the time limit `\(name)` must not be negative, but is \(limit)")
        }
        var own = HTTPOptions(copying: options)
        for (name, value) in Pairs.copy(options.named, count: min(options.named_count, 100)) {
            switch name {
            case "executor": own.executor = value
            case "credential": own.credential = value
            case "account": own.account = value
            case "redirects": own.redirects = try Self.count(value, of: name, 0...HTTPOptions.mostRedirects)
            case "retry": own.retry = try RetryPolicy(text: value)
            case "attempt": own.attempt = try Self.count(value, of: name, 1...RetryPolicy.mostAttempts)
            case "cache": own.cache = try CachePolicy(text: value)
            case "tag": own.cacheTags.append(value)
            case "endpoint": own.endpoint = value
            case "mock":
                guard ["on", "off"].contains(value) else {
                    throw .unsupported("`\(value)` as the option `mock`, but `on` and `off`")
                }
                own.usesMock = value == "on"
            case "equal":
                guard let equal = EqualRequests(rawValue: value) else {
                    throw .unsupported("`\(value)` as the option `equal`, but `coalesce`, `reject` and `allow`")
                }
                own.equalRequests = equal
            default: throw .unsupported("an option with the name `\(name)`")
            }
        }
        self.options = own
        upload = options.upload.lent.isEmpty ? nil : try folder.path(of: options.upload.text, makingFolder: false)
        download = options.download.lent.isEmpty ? nil : try folder.path(of: options.download.text, makingFolder: true)
    }

    private static func count(_ value: String, of name: String, _ range: ClosedRange<Int>)
        throws(BackplaneError) -> Int
    {
        guard let count = Int(value), range.contains(count) else {
            throw BackplaneError(
                .networkRefused,
                "the option `\(name)` must be a number from \(range.lowerBound) to \(range.upperBound), but is `\(value)`"
            )
        }
        return count
    }
}

extension BackplaneError {
    fileprivate static func unsupported(_ what: String) -> BackplaneError {
        BackplaneError(.networkUnsupported, "this host does not have \(what); nothing was sent")
    }
}

/// The counts of the exchanges of one component and its successors in swaps.
final class ExchangeCounts: Sendable {
    private let counts = Mutex(ExchangeStatistics())

    var statistics: ExchangeStatistics { counts.withLock(\.self) }

    func began() {
        counts.withLock { counts in (counts.begun, counts.inFlight) = (counts.begun + 1, counts.inFlight + 1) }
    }

    func ended(_ error: BackplaneError?) {
        counts.withLock { counts in
            counts.inFlight -= 1
            if let error, error.code != .callCancelled { counts.failed += 1 }
        }
    }

    func sent(_ count: Int) { counts.withLock { $0.sent += count } }

    func received(_ count: Int) { counts.withLock { $0.received += count } }
}
