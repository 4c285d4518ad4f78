import Backplane
import BackplaneDefinitions
import BackplaneExchange
package import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The managers of plugins that take part in exchanges, found by their names once the host can start them.
final class NetworkManagers: Sendable {
    private struct State { weak var directory: (any ManagerDirectory)? }
    private let state = Mutex(State())

    func connect(_ directory: any ManagerDirectory) { state.withLock { $0.directory = directory } }

    func find<C: Contract>(_ name: String, as contract: C.Type) async throws(BackplaneError) -> Remote<C> {
        guard let directory = state.withLock(\.directory) else { throw .hostHasStopped }
        return try await directory.manager(name, as: contract)
    }

    var serialize: DefinitionLoader.Serialize {
        { [self] manager, response, call async throws(BackplaneError) -> Data in
            try await find(manager, as: Serializing.self).serialize(response, call)
        }
    }
}

/// The parts that plugin managers take in the exchanges of their host.
struct NetworkParts: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let executor = Self(rawValue: 1 << 0)
    static let interceptor = Self(rawValue: 1 << 1)
    static let authenticator = Self(rawValue: 1 << 2)
    static let cache = Self(rawValue: 1 << 3)

    /// Every set of parts.
    static let all = (0..<16 as Range<UInt8>).map { NetworkParts(rawValue: $0) }

    /// The parts that the exchanges of a component with these parts pass.
    ///
    /// To prevent cycles, exchanges skip components of the same kind. A cache provider's exchanges pass interceptors,
    /// authenticators and executors. An interceptor's pass authenticators and executors. An authenticator's pass
    /// executors. An executor's pass none of these.
    var passed: NetworkParts {
        if contains(.executor) { return [] }
        if contains(.authenticator) { return .executor }
        if contains(.interceptor) { return [.executor, .authenticator] }
        return contains(.cache)
            ? [.executor, .authenticator, .interceptor] : [.executor, .authenticator, .interceptor, .cache]
    }
}

extension Manifest {
    /// The parts of managers that take part in exchanges: the managers that the network names, and those that they use.
    var networkParts: [String: NetworkParts] {
        var parts: [String: NetworkParts] = [:]
        func add(_ part: NetworkParts, _ names: [String]) {
            var waiting = names
            while let name = waiting.popLast() {
                guard parts[name, default: []].insert(part).inserted else { continue }
                waiting += managers[name].map { Array($0.uses.values) } ?? []
            }
        }
        add(.executor, Array(network.executors.values))
        add(.interceptor, network.interceptors.map(\.manager))
        add(.authenticator, network.authenticators)
        if let provider = network.cache.provider { add(.cache, [provider]) }
        return parts
    }
}

extension NetworkManagers {
    func authenticator(_ manager: String, _ call: Call) async throws -> SchemeAuthenticator.Ready {
        let remote = try await find(manager, as: Authenticating.self)
        return SchemeAuthenticator.Ready(
            digests: try await remote.digests(call),
            prepare: { head in try await remote.prepare(head, call) },
            answer: { head in try await remote.answer(head, call) })
    }

    /// Returns the interceptor of exchanges that is a manager, and the observer that delivers its events.
    func interceptor(
        _ settings: NetworkInterceptor, _ log: any LogSink
    ) -> (interceptor: HTTPInterceptor, observer: @Sendable (ExchangeEvent) -> Void) {
        let name = settings.manager,
            delivery = EventDelivery { [self] batch in
                let remote = try await find(name, as: Intercepting.self), call = Call(within: EventDelivery.limit)
                let interests = try await remote.interests(call)
                if interests.contains(.events) { _ = try await remote.events(batch, call) }
                return interests
            } failed: { error in
                let error = BackplaneError(thrown: error)
                // A host that stops has exchanges until its last component is gone.
                guard error.code != .hostStopped else { return }
                log.report(
                    .warning, "an interceptor failed to receive events",
                    ["interceptor": name, "error": error.description])
            }
        let interceptor = HTTPInterceptor(manager: name, hosts: Set(settings.hosts)) { [self] call in
            let remote: Remote<Intercepting>, interests: Interests
            do {
                remote = try await find(name, as: Intercepting.self)
                interests = try await remote.interests(call)
            } catch  where delivery.interests == .events {
                // Exchanges do not fail because of a manager that only receives events.
                return InterceptingManager(.events, request: { $0 }, attempt: { _ in [:] })
            }
            delivery.interests = interests
            return InterceptingManager(
                interests, request: { head in try await remote.request(head, call) },
                attempt: { head in try await remote.attempt(head, call) })
        }
        return (interceptor, { delivery.add($0) })
    }
}

/// The delivery of events to a manager; no exchange waits for the manager or fails because of it.
///
/// A slow manager misses events: it receives only the latest progress, and additional events are dropped once 1,000 are
/// queued.
final class EventDelivery: Sendable {
    private struct State {
        var queue = EventQueue()
        var interests: Interests?
        var isWanted: Bool { interests?.contains(.events) ?? true }
        var isDelivering = false
        var hasFailed = false
    }
    /// The time limit for a manager to handle the collected events, before it receives the next ones.
    static let limit = Duration.seconds(10)
    private let deliver: @Sendable (ExchangeEvents) async throws -> Interests
    private let failed: @Sendable (any Error) -> Void
    private let state = Mutex(State())

    /// Creates a delivery.
    ///
    /// - Parameters:
    ///   - deliver: A function that receives all queued events at once, and returns the manager's interests.
    ///   - failed: A function that is called with the first error, and again with the first error after each success.
    init(
        _ deliver: @escaping @Sendable (ExchangeEvents) async throws -> Interests,
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        (self.deliver, self.failed) = (deliver, failed)
    }

    /// The last known interests of the manager; `nil` until it is asked, and events are wanted until then.
    var interests: Interests? {
        get { state.withLock(\.interests) }
        set { state.withLock { $0.interests = newValue } }
    }

    /// Adds an event, which is delivered once the function has handled all earlier events.
    func add(_ event: ExchangeEvent) {
        let begins = state.withLock { state in
            guard state.isWanted else { return false }
            defer { state.isDelivering = true }
            state.queue.add(event)
            return !state.isDelivering
        }
        if begins { Task { await run() } }
    }

    private func run() async {
        while let batch = state.withLock({ state in
            let batch = state.queue.take()
            state.isDelivering = batch != nil
            return batch
        }) {
            do {
                let interests = try await deliver(batch)
                state.withLock { state in (state.interests, state.hasFailed) = (interests, false) }
            } catch {
                let isFirst = state.withLock { state in
                    defer { state.hasFailed = true }
                    return !state.hasFailed
                }
                if isFirst { failed(error) }
            }
        }
    }
}

/// A bounded queue of events, with only the latest progress of each exchange.
struct EventQueue: Sendable {
    /// The maximum number of queued events; additional ones are dropped and counted.
    static let most = 1_000
    private var events: [ExchangeEvent] = []
    private var progress: [UInt64: Int] = [:]
    private var lost = 0

    mutating func add(_ event: ExchangeEvent) {
        let isProgress = event.stage == .progress
        if isProgress, let place = progress[event.exchange] {
            events[place] = event
            return
        }
        guard events.count < Self.most else { return lost += 1 }
        progress[event.exchange] = isProgress ? events.count : nil
        events.append(event)
    }

    mutating func take() -> ExchangeEvents? {
        guard !events.isEmpty else { return nil }
        defer { self = EventQueue() }
        return ExchangeEvents(events: events, lost: lost)
    }
}

/// The temporary observers of a host, such as those of single traces.
final class ExchangeTaps: Sendable {
    private let taps = Mutex<[UInt64: @Sendable (ExchangeEvent) -> Void]>([:])

    var observers: [@Sendable (ExchangeEvent) -> Void] { taps.withLock { Array($0.values) } }

    func add(_ number: UInt64, _ observe: @escaping @Sendable (ExchangeEvent) -> Void) {
        taps.withLock { $0[number] = observe }
    }

    func remove(_ number: UInt64) { taps.withLock { _ = $0.removeValue(forKey: number) } }
}

/// The stages of exchanges as text lines, in which exchanges are numbered.
package struct ExchangeTranscript: Sendable {
    private var numbers: [UInt64: Int] = [:]
    private var last = 0

    package init() {}

    /// Returns the lines for the next stages; progress has none.
    mutating func lines(_ batch: ExchangeEvents) -> [String] {
        var lines = batch.events.compactMap { line($0) }
        if batch.lost > 0 { lines.append("\(batch.lost) further stages were dropped, since there were too many") }
        return lines
    }

    /// Returns the line for the next stage; `nil` for progress.
    package mutating func line(_ event: ExchangeEvent) -> String? {
        guard event.stage != .progress else { return nil }
        let number = numbers[event.exchange] ?? last + 1
        (numbers[event.exchange], last) = (number, max(last, number))
        if event.stage == .end { numbers[event.exchange] = nil }
        return "exchange \(number), \(Self.milliseconds(event.after)) ms: \(Self.text(event))"
    }

    private static func text(_ event: ExchangeEvent) -> String {
        let request = "\(event.method) \(event.url)", status = event.status.map { "\($0)" }
        switch event.stage {
        case .start: return "\(request)\(event.component.map { ", by \($0)" } ?? "")"
        case .attempt: return "attempt \(event.attempt)"
        case .shared: return "waits for an equal request in flight"
        case .cache: return "cache: \(event.note ?? "")"
        case .head: return "status \(status ?? "unknown")"
        case .retry:
            let reason = event.error ?? status.map { "status \($0)" } ?? "its value"
            return "retry in \(milliseconds(event.delay ?? 0)) ms, because of \(reason)"
        case .redirect: return "redirect to \(request)"
        case .end:
            let sent = event.sent > 0 ? "\(event.sent) bytes sent, " : ""
            return "end, \(sent)\(event.received) bytes received\(event.error.map { ", \($0)" } ?? "")"
        default: return event.stage.rawValue
        }
    }

    private static func milliseconds(_ nanoseconds: Int64) -> String {
        let tenths = max(0, nanoseconds) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// The stages of the exchanges of one trace, which are collected until they are retrieved.
package final class TracedExchanges: Sendable {
    private struct State {
        var queue = EventQueue()
        var transcript = ExchangeTranscript()
    }
    private let state = Mutex(State())
    private let taps: ExchangeTaps
    private let number = Callbacks.newID()

    init(of trace: String, in taps: ExchangeTaps) {
        self.taps = taps
        taps.add(number) { [weak self] event in
            if event.trace == trace { self?.state.withLock { $0.queue.add(event) } }
        }
    }

    deinit { taps.remove(number) }

    /// Removes and returns the collected stages; at most 1,000 are kept.
    package func take() -> [ExchangeEvent] { state.withLock { $0.queue.take()?.events ?? [] } }

    /// Removes and returns the collected stages, except for progress, as lines for display.
    package func takeLines() -> [String] {
        state.withLock { state in
            guard let batch = state.queue.take() else { return [] }
            return state.transcript.lines(batch)
        }
    }
}
