import Backplane
import BackplaneExchange
import BackplaneNetwork

/// The HTTP network that one manifest configures.
struct ManifestNetwork: Sendable {
    /// The pipeline of all exchanges except those of carriers.
    let pipeline: HTTPPipeline
    /// The pipeline of the exchanges of carriers, which uses no executor of a plugin.
    private let ownPipeline: HTTPPipeline
    /// The managers that take part in carrying out exchanges: executors, and the managers that they use.
    private let carriers: Set<String>
    /// The names of the hosts that traces are sent to, in lower case.
    private let traced: Set<String>

    /// Creates the network that a manifest configures.
    ///
    /// If errors prevent the manifest from running, every exchange fails with them: the settings that were not
    /// understood may be those that make exchanges secure.
    ///
    /// - Parameters:
    ///   - executors: The executors of the host program.
    ///   - folder: The manifest's folder, which paths are relative to; `nil` if it has none.
    ///   - retries: The budgets of retries.
    ///   - vault: The accounts of credentials.
    ///   - connect: Returns the function that finds a manager that is an executor, by the executor's name.
    init(
        _ document: ManifestDocument, _ executors: [any HTTPExecutor], in folder: String?, _ retries: Retries,
        _ vault: CredentialVault,
        _ connect: (_ name: String, _ manager: String) -> HTTPPipeline.Connect
    ) {
        let network = document.manifest.network, refusal = document.refusal
        let executors = [FileExecutor(folder: folder)] + executors
        let tls = network.tls.mapValues { $0.below(folder ?? FilePath.absolute(".")) }
        var named: [String: HTTPPipeline.Connect] = [:]
        for (name, manager) in network.executors { named[name] = connect(name, manager) }
        let credentials = vault.credentials(network.credentials)
        pipeline = HTTPPipeline(
            executors, tls: tls, named: named, reserved: [], retries: retries, credentials: credentials,
            refusal: refusal)
        ownPipeline = HTTPPipeline(
            executors, tls: tls, named: [:], reserved: Set(network.executors.keys), retries: retries,
            credentials: credentials, refusal: refusal)
        carriers = document.manifest.carriers
        traced = Set(network.traced.map { $0.lowercased() })
    }

    /// Returns the pipeline for the exchanges of a component.
    ///
    /// The exchanges of an executor of a plugin use no such executor.
    ///
    /// - Parameter managers: The managers that the component belongs to.
    func pipeline(of managers: [String]) -> HTTPPipeline {
        managers.contains(where: carriers.contains) ? ownPipeline : pipeline
    }

    /// Returns a request with a trace, if its host may receive one and the request has none of its own.
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

extension Manifest {
    /// The managers that are executors, and those that they use.
    fileprivate var carriers: Set<String> {
        var carriers: Set<String> = []
        var waiting = Array(network.executors.values)
        while let name = waiting.popLast() {
            guard carriers.insert(name).inserted else { continue }
            waiting += managers[name].map { Array($0.uses.values) } ?? []
        }
        return carriers
    }
}

extension TLSSettings {
    /// Returns the settings with a path that does not depend on the current folder.
    fileprivate func below(_ folder: String) -> TLSSettings {
        var settings = self
        settings.roots = roots.map { $0.hasPrefix("/") ? $0 : FilePath.join(folder, $0) }
        return settings
    }
}
