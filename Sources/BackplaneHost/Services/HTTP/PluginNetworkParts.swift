import Backplane
import BackplaneDefinitions
import BackplaneExchange
package import BackplaneNetwork
import FoundationEssentials
import Synchronization

/// The managers of plugins that take part in exchanges, found by their names once the host can start them.
final class NetworkManagers: Sendable {
    /// A host as the network sees it.
    protocol Finder: Sendable {
        /// Returns a manager, starting it if necessary.
        func manager<C: Contract>(_ name: String, as contract: C.Type) async throws(BackplaneError) -> Remote<C>
    }
    private let finder = Mutex<(any Finder)?>(nil)

    /// Sets the host that finds managers.
    func connect(_ finder: any Finder) { self.finder.withLock { $0 = finder } }

    /// Returns a manager, starting it if necessary.
    ///
    /// - Throws: The reason why it is not running; `host.stopped` after the host has stopped.
    func find<C: Contract>(_ name: String, as contract: C.Type) async throws(BackplaneError) -> Remote<C> {
        guard let finder = finder.withLock({ $0 }) else { throw .hostHasStopped }
        return try await finder.manager(name, as: contract)
    }
}

extension NetworkManagers {
    /// The function that calls a serializer, a manager, with a response of a definition.
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
    static let filter = Self(rawValue: 1 << 1)
    static let observer = Self(rawValue: 1 << 2)
    static let authenticator = Self(rawValue: 1 << 3)

    /// The parts that the exchanges of a component with these parts pass.
    ///
    /// They exclude components of the same kind and cycles: exchanges of a filter pass authenticators and executors,
    /// those of an authenticator pass executors, and those of executors and observers pass none of these. All but those
    /// of observers are observed.
    var passed: NetworkParts {
        if contains(.observer) { return [] }
        if contains(.executor) { return .observer }
        if contains(.authenticator) { return [.executor, .observer] }
        let passed: NetworkParts = [.executor, .authenticator, .observer]
        return contains(.filter) ? passed : passed.union(.filter)
    }
}

extension Manifest {
    /// The parts of the managers that take part in exchanges: those that the network names, and those that they use.
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
        add(.filter, network.filters.map(\.manager))
        add(.observer, network.observers)
        add(.authenticator, network.authenticators)
        return parts
    }
}

extension NetworkManagers {
    /// Returns the functions of an authenticating manager for one request.
    func authenticator(_ manager: String, _ call: Call) async throws -> SchemeAuthenticator.Ready {
        let remote = try await find(manager, as: Authenticating.self)
        return SchemeAuthenticator.Ready(
            digests: try await remote.digests(call),
            prepare: { head in try HTTPHeaders(pairs: try await remote.prepare(head, call)) },
            answer: { head in try HTTPHeaders(pairs: try await remote.answer(head, call)) })
    }
}

extension ExchangeFilter {
    /// Creates the filter of an exchange from a manager of a plugin.
    init(_ settings: NetworkFilter, _ managers: NetworkManagers) {
        self.init(
            settings.manager, hosts: Set(settings.hosts),
            ready: { call in
                let remote = try await managers.find(settings.manager, as: ExchangeFiltering.self)
                return Ready(
                    try await remote.interests(call), request: { head in try await remote.request(head, call) },
                    attempt: { head in try HTTPHeaders(pairs: try await remote.attempt(head, call)) })
            })
    }
}

extension ExchangeObserver {
    /// The time limit for a manager to handle the collected events, before it receives the next ones.
    private static let limit = Duration.seconds(10)

    /// Creates an observer from a manager of a plugin.
    ///
    /// - Parameter log: The log to which its errors are written.
    convenience init(_ manager: String, _ managers: NetworkManagers, _ log: any LogSink) {
        self.init { batch in
            let remote = try await managers.find(manager, as: ExchangeObserving.self)
            _ = try await remote.observe(batch, Call(within: Self.limit))
        } failed: { error in
            let error = BackplaneError(thrown: error)
            // A host that stops has exchanges until its last component is gone.
            guard error.code != .hostStopped else { return }
            log.write(
                LogRecord(
                    level: .warning, source: "host", message: "an observer of exchanges failed",
                    metadata: ["observer": manager, "error": error.description]))
        }
    }
}

/// The temporary observers of a host, such as those of single traces.
final class ExchangeTaps: Sendable {
    private let taps = Mutex<[UInt64: ExchangeObserver]>([:])

    var observers: [ExchangeObserver] { taps.withLock { Array($0.values) } }

    /// Adds a function that is called within the exchanges of a trace.
    func add(_ number: UInt64, of trace: String, _ observe: @escaping @Sendable (ExchangeEvent) -> Void) {
        taps.withLock { $0[number] = ExchangeObserver(within: { if $0.trace == trace { observe($0) } }) }
    }

    func remove(_ number: UInt64) { taps.withLock { _ = $0.removeValue(forKey: number) } }
}

/// The stages of exchanges as text lines, in which exchanges are numbered.
struct ExchangeTranscript {
    private var numbers: [UInt64: Int] = [:]
    private var last = 0

    /// Returns the lines for the next stages; progress has none.
    mutating func lines(_ batch: ExchangeEvents) -> [String] {
        var lines = batch.events.compactMap { line($0) }
        if batch.lost > 0 { lines.append("\(batch.lost) further stages were dropped, since there were too many") }
        return lines
    }

    private mutating func line(_ event: ExchangeEvent) -> String? {
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

    /// Returns nanoseconds as milliseconds with one decimal.
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
        taps.add(number, of: trace) { [weak self] event in self?.state.withLock { $0.queue.add(event) } }
    }

    deinit { taps.remove(number) }

    /// Removes and returns the collected stages, of which at most 1,000 are kept.
    package func take() -> [ExchangeEvent] { state.withLock { $0.queue.take()?.events ?? [] } }

    /// Removes and returns the collected stages, except for progress, as lines for display.
    package func takeLines() -> [String] {
        state.withLock { state in
            guard let batch = state.queue.take() else { return [] }
            return state.transcript.lines(batch)
        }
    }
}
