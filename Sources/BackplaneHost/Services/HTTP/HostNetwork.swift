import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The HTTP network of a host, as configured by the active manifest.
///
/// A component that belongs to another manifest during a swap uses that manifest's network.
final class HostNetwork: Sendable {
    /// The parts of the network that outlive manifests.
    struct Means: Sendable {
        var executors: [any HTTPExecutor]
        var interceptors: [HTTPInterceptor] = []
        var observers: [@Sendable (ExchangeEvent) -> Void] = []
        var log: any LogSink = SilentLog()
        /// The observers of single traces.
        let taps = ExchangeTaps()
        let retries: Retries
        let limits = NetworkLimits()
        let managers = NetworkManagers()
        var vault = CredentialVault()
        var mocks = Mocks.none
        var cassette: Cassette?
        /// The exchanges in flight, by the parts that they pass, so that a part's exchanges never wait for themselves.
        let equal = Dictionary(uniqueKeysWithValues: NetworkParts.all.map { ($0, EqualExchanges()) })
        var caches = HostCaches()

        init(_ executors: [any HTTPExecutor], _ clock: any HostClock) {
            self.executors = executors
            retries = clock.hasJitter ? Retries(by: clock) : Retries(by: clock, random: { 1 })
        }
    }
    private let means: Means
    /// The folder of the first manifest, for manifests that are not files; `nil` if the first is not a file either.
    private let folder: String?
    let abandoned = AbandonedDownloads()
    private let state: Mutex<ManifestNetwork>
    /// The managers of components, keyed by the components' numbers in the paths of calls.
    private let owners = Mutex<[UInt16: [String]]>([:])

    init(_ means: Means, _ document: ManifestDocument) {
        var means = means
        if let cassette = means.cassette, cassette.player == nil { means.observers.append(means.log.fileObserver) }
        (self.means, folder) = (means, document.folder)
        means.limits.follow(document.manifest.network.limits)
        state = Mutex(ManifestNetwork(document, means, in: document.folder))
    }

    var retries: Retries { means.retries }

    /// The activity of the active manifest's limits.
    var limits: [LimitStatistics] { means.limits.statistics }

    var managers: NetworkManagers { means.managers }

    var taps: ExchangeTaps { means.taps }

    func observeSignIns(_ observer: @escaping @Sendable (String, String) -> Void) {
        means.vault.observeSignIns(observer)
    }

    var active: ManifestNetwork { state.withLock { $0 } }

    var pipeline: HTTPPipeline { active.pipeline }

    /// Records the managers to which a component belongs; its number is reused only after its end.
    func note(_ managers: [String], of number: UInt16) { owners.withLock { $0[number] = managers } }

    /// Returns the managers of the components through which a call has come.
    func managers(along call: Call) -> [String] {
        let path = call.path
        return owners.withLock { owners in path.flatMap { owners[$0] ?? [] } }
    }

    /// Adopts a manifest that becomes active; exchanges in progress continue unchanged.
    func follow(_ document: ManifestDocument) {
        let network = network(of: document)
        state.withLock { $0 = network }
        means.limits.follow(document.manifest.network.limits)
    }

    func network(of document: ManifestDocument) -> ManifestNetwork {
        ManifestNetwork(document, means, in: document.folder ?? folder)
    }

    /// Returns the errors of a manifest's pins, reading the files with the pins.
    func pinProblems(of document: ManifestDocument) -> [Problem] {
        guard document.refusal == nil else { return [] }
        let folder = document.folder ?? folder ?? FilePath.absolute(".")
        return document.manifest.network.tls.sorted { $0.key < $1.key }.compactMap { host, settings -> Problem? in
            do throws(BackplaneError) {
                _ = try settings.below(folder).pinnedKeys()
                return nil
            } catch {
                var error = error
                error.location = document.place(of: ManifestPath() / "network" / "tls" / host / "pins")
                return Problem(.error, manager: nil, error)
            }
        }
    }
}

extension ManifestDocument {
    fileprivate var folder: String? { path.map { FilePath.folder(of: FilePath.absolute($0)) } }
}

/// The HTTP network configured by one manifest.
struct ManifestNetwork: Sendable {
    /// The pipelines of exchanges, keyed by the parts that the exchanges pass.
    private var pipelines: [NetworkParts: HTTPPipeline] = [:]
    /// The parts of the managers that take part in exchanges.
    private let parts: [String: NetworkParts]
    /// The names of the hosts to which traces are sent, in lower case.
    private let traced: Set<String>
    /// The cache of exchanges, which manifests with the same settings share.
    let cache: ResponseCache

    /// Creates the network that a manifest configures.
    ///
    /// If errors prevent the manifest from running, every exchange fails with them: the unreadable settings may be the
    /// ones that make exchanges secure.
    init(_ document: ManifestDocument, _ means: HostNetwork.Means, in folder: String?) {
        let network = document.manifest.network
        parts = document.manifest.networkParts
        traced = Set(network.traced.map { $0.lowercased() })
        cache = means.caches.cache(with: network.cache)
        let executors = [FileExecutor(folder: folder)] + means.executors, refusal = document.refusal
        let tls = network.tls.mapValues { $0.below(folder ?? FilePath.absolute(".")) }
        var named: [String: HTTPPipeline.Connect] = [:]
        for (name, manager) in network.executors {
            named[name] = { [managers = means.managers] call in
                try await PluginExecutor(name, call) { () async throws(BackplaneError) in
                    try await managers.find(manager, as: HTTPExecuting.self)
                }
            }
        }
        let intercepting = network.interceptors.map { means.managers.interceptor($0, means.log) }
        let reporting = tls.values.contains(where: \.reportsOnly) ? [means.log.pinObserver] : []
        let credentials = means.vault.credentials(network.credentials)
        var mocks = means.mocks
        if let beside = folder.map({ FilePath.join($0, "mocks") }),
            !mocks.folders.map(FilePath.absolute).contains(FilePath.absolute(beside))
        {
            mocks.folders.append(beside)
        }
        for passed in Set((Array(parts.values) + [NetworkParts()]).map(\.passed)) {
            let isExecuted = passed.contains(.executor)
            let managers = passed.contains(.interceptor) ? intercepting : []
            var credentials = credentials
            credentials.refusesManagers = !passed.contains(.authenticator)
            let observers = means.observers + reporting + managers.map(\.observer), taps = means.taps
            pipelines[passed] = HTTPPipeline(
                executors, tls: tls, named: isExecuted ? named : [:],
                reserved: isExecuted ? [] : Set(network.executors.keys),
                registry: "the manifest's `network.executors`", retries: means.retries, credentials: credentials,
                interceptors: means.interceptors + managers.map(\.interceptor),
                observers: { taps.observers + observers }, refusal: refusal,
                cache: passed.contains(.cache) ? cache : nil, equal: means.equal[passed]!, limits: means.limits,
                mocks: mocks, cassette: means.cassette)
        }
    }

    /// Whether any manager takes part in the exchanges of others.
    var hasParts: Bool { !parts.isEmpty }

    /// The pipeline of the host program's exchanges, and of components without a part in others' exchanges.
    var pipeline: HTTPPipeline { pipeline(of: []) }

    /// Returns the parts that managers take in exchanges.
    func parts(of managers: [String]) -> NetworkParts {
        managers.reduce(into: []) { $0.formUnion(parts[$1] ?? []) }
    }

    /// Returns the pipeline of the exchanges of a component.
    func pipeline(of managers: [String]) -> HTTPPipeline {
        guard let pipeline = pipelines[parts(of: managers).passed] else {
            preconditionFailure("there is a pipeline for every part that is taken")
        }
        return pipeline
    }

    /// Returns a request with a trace, if its host may receive one and the request does not have its own.
    func request(_ request: HTTPRequest, with trace: Trace?) -> HTTPRequest {
        guard let trace, !traced.isEmpty, request.headers["traceparent"] == nil,
            ["http", "https"].contains(request.scheme), traced.contains(request.hostName)
        else { return request }
        var request = request
        request.headers.add("traceparent", trace.traceparent)
        return request
    }
}

extension ManifestDocument {
    fileprivate var refusal: BackplaneError? {
        guard manifest.managers.isEmpty else { return nil }
        let errors = problems.filter { $0.severity == .error && $0.manager == nil }.map(\.error)
        return errors.isEmpty ? nil : .combining(errors, of: "the manifest", at: path)
    }
}

extension LogSink {
    /// The observer that logs servers whose keys are not pinned, if such keys are only reported.
    fileprivate var pinObserver: @Sendable (ExchangeEvent) -> Void {
        { event in
            guard event.stage == .pinMismatch, let error = event.failure else { return }
            let isMismatch = error.code == .networkPinMismatch
            self.report(
                .warning,
                isMismatch ? "a server has a key that is not pinned" : "a server's key was not compared with its pins",
                ["url": event.url, "error": error.description])
        }
    }

    /// The observer that logs the first request for a `file:` URL, which a cassette does not record.
    fileprivate var fileObserver: @Sendable (ExchangeEvent) -> Void {
        let hasReported = Atomic(false)
        return { event in
            guard event.stage == .start, event.url.hasPrefix("file:"),
                !hasReported.exchange(true, ordering: .relaxed)
            else { return }
            self.report(.notice, "requests for files are not recorded in the cassette", ["url": event.url])
        }
    }
}

extension TLSSettings {
    /// Returns the settings with paths that do not depend on the current folder.
    fileprivate func below(_ folder: String) -> TLSSettings {
        func whole(_ path: String) -> String { FilePath.join(folder, path) }
        var settings = self
        settings.roots = roots.map(whole)
        settings.pins = pins.map { pin in pin.path.map { .file(whole($0)) } ?? pin }
        (settings.certificate, settings.key) = (certificate.map(whole), key.map(whole))
        return settings
    }
}
