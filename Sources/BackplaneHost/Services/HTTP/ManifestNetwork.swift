import Backplane
import BackplaneExchange
import BackplaneNetwork

/// The HTTP network configured by one manifest.
struct ManifestNetwork: Sendable {
    /// The pipelines of exchanges, keyed by the parts that the exchanges pass.
    private var pipelines: [NetworkParts: HTTPPipeline] = [:]
    /// The parts of the managers that take part in exchanges.
    private let parts: [String: NetworkParts]
    /// The names of the hosts to which traces are sent, in lower case.
    private let traced: Set<String>

    /// Creates the network that a manifest configures.
    ///
    /// If errors prevent the manifest from running, every exchange fails with them, because the settings that could not
    /// be read may be those that make exchanges secure.
    ///
    /// - Parameter folder: The manifest's folder, to which paths are relative; `nil` if it has none.
    init(_ document: ManifestDocument, _ means: HostNetwork.Means, in folder: String?) {
        let network = document.manifest.network
        parts = document.manifest.networkParts
        traced = Set(network.traced.map { $0.lowercased() })
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
        let filters = network.filters.map { ExchangeFilter($0, means.managers) }
        let observers = network.observers.map { ExchangeObserver($0, means.managers, means.log) }
        let credentials = means.vault.credentials(network.credentials)
        for passed in Set((Array(parts.values) + [NetworkParts()]).map(\.passed)) {
            let isExecuted = passed.contains(.executor)
            var credentials = credentials
            credentials.refusesManagers = !passed.contains(.authenticator)
            let own = means.observers + (passed.contains(.observer) ? observers : []), taps = means.taps
            pipelines[passed] = HTTPPipeline(
                executors, tls: tls, named: isExecuted ? named : [:],
                reserved: isExecuted ? [] : Set(network.executors.keys), retries: means.retries,
                credentials: credentials,
                extensions: ExchangeExtensions(
                    filters: means.filters + (passed.contains(.filter) ? filters : []),
                    observers: taps.observers + own), refusal: refusal)
        }
    }

    /// A Boolean value that indicates whether any manager takes part in the exchanges of others.
    var hasParts: Bool { !parts.isEmpty }

    /// The pipeline of the exchanges of the host program, and of components that take no part in those of others.
    var pipeline: HTTPPipeline { pipeline(of: []) }

    /// Returns the pipeline of the exchanges of a component.
    ///
    /// - Parameter managers: The managers to which the component belongs.
    func pipeline(of managers: [String]) -> HTTPPipeline {
        let taken = managers.reduce(into: NetworkParts()) { $0.formUnion(parts[$1] ?? []) }
        guard let pipeline = pipelines[taken.passed] else {
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
    /// The errors that prevent the manifest from running, combined into one.
    fileprivate var refusal: BackplaneError? {
        guard manifest.managers.isEmpty else { return nil }
        let errors = problems.filter { $0.severity == .error && $0.manager == nil }.map(\.error)
        return errors.isEmpty ? nil : .combining(errors, of: "the manifest", at: path)
    }
}

extension TLSSettings {
    /// Returns the settings with paths that do not depend on the current folder.
    fileprivate func below(_ folder: String) -> TLSSettings {
        func whole(_ path: String) -> String { path.hasPrefix("/") ? path : FilePath.join(folder, path) }
        var settings = self
        settings.roots = roots.map(whole)
        (settings.certificate, settings.key) = (certificate.map(whole), key.map(whole))
        return settings
    }
}
