import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The HTTP network of a host, as the active manifest configures it.
///
/// A component that belongs to another manifest during a swap uses the network of that one.
final class HostNetwork: Sendable {
    /// A function that returns the manager that is an executor, started if it is not up.
    typealias Find = @Sendable (String) async throws(BackplaneError) -> Remote<HTTPExecuting>

    /// The function that finds managers, once there is one.
    private final class Finder: Sendable {
        let find = Mutex<Find?>(nil)
    }
    private let executors: [any HTTPExecutor]
    /// The folder of the first manifest, for manifests that are not files; `nil` if the first is not a file, either.
    private let folder: String?
    private let finder = Finder()
    /// The budgets of retries, which outlast manifests.
    private let retries: Retries
    /// The accounts of credentials, which outlast manifests.
    private let vault: CredentialVault
    /// The unfinished files that a killed process has left.
    let abandoned = AbandonedDownloads()
    private let state: Mutex<ManifestNetwork>

    /// Creates the way of the exchanges under a manifest.
    init(_ executors: [any HTTPExecutor], _ document: ManifestDocument, _ vault: CredentialVault) {
        let retries = Retries()
        (self.executors, folder, self.retries, self.vault) = (executors, document.folder, retries, vault)
        state = Mutex(Self.network(of: document, executors, in: document.folder, retries, vault, finder))
    }

    /// Sets the function that returns the managers that are executors.
    func connect(_ find: @escaping Find) { finder.find.withLock { $0 = find } }

    /// The network of the active manifest.
    var active: ManifestNetwork { state.withLock { $0 } }

    /// The pipeline of the host program's exchanges.
    var pipeline: HTTPPipeline { active.pipeline }

    /// Follows a manifest that becomes active; exchanges in progress continue unchanged.
    func follow(_ document: ManifestDocument) {
        let network = network(of: document)
        state.withLock { $0 = network }
    }

    /// Returns the network that a manifest configures.
    func network(of document: ManifestDocument) -> ManifestNetwork {
        Self.network(of: document, executors, in: document.folder ?? folder, retries, vault, finder)
    }

    private static func network(
        of document: ManifestDocument, _ executors: [any HTTPExecutor], in folder: String?, _ retries: Retries,
        _ vault: CredentialVault, _ finder: Finder
    ) -> ManifestNetwork {
        ManifestNetwork(document, executors, in: folder, retries, vault) { name, manager in
            { call in
                guard let find = finder.find.withLock({ $0 }) else { throw BackplaneError.hostHasStopped }
                return try await PluginExecutor(name, call) { () async throws(BackplaneError) in try await find(manager)
                }
            }
        }
    }
}

extension ManifestDocument {
    /// The folder of the manifest; `nil` if it is not a file.
    fileprivate var folder: String? { path.map { FilePath.folder(of: FilePath.absolute($0)) } }
}
