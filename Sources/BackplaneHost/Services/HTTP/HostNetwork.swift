import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// The HTTP network of a host, as configured by the active manifest.
///
/// A component that belongs to another manifest during a swap uses the network of that one.
final class HostNetwork: Sendable {
    /// The parts of the network that outlive manifests.
    struct Means: Sendable {
        /// The executors of the host program.
        var executors: [any HTTPExecutor]
        /// The filters and observers of the host program.
        var filters: [ExchangeFilter] = []
        var observers: [ExchangeObserver] = []
        var log: any LogSink = SilentLog()
        /// The observers of single traces.
        let taps = ExchangeTaps()
        /// The budgets of retries, and the clock of exchanges.
        let retries: Retries
        let managers = NetworkManagers()
        /// The accounts of credentials.
        var vault = CredentialVault()

        init(_ executors: [any HTTPExecutor], _ clock: any HostClock) {
            (self.executors, retries) = (executors, Retries(by: clock))
        }
    }
    private let means: Means
    /// The folder of the first manifest, for manifests that are not files; `nil` if the first is not a file either.
    private let folder: String?
    /// The unfinished files that a killed process has left behind.
    let abandoned = AbandonedDownloads()
    private let state: Mutex<ManifestNetwork>
    /// The managers of components, keyed by the components' numbers in the paths of calls.
    private let owners = Mutex<[UInt16: [String]]>([:])

    /// Creates the network for exchanges under a manifest.
    init(_ means: Means, _ document: ManifestDocument) {
        (self.means, folder) = (means, document.folder)
        state = Mutex(ManifestNetwork(document, means, in: document.folder))
    }

    /// The budgets of retries, and the clock of exchanges.
    var retries: Retries { means.retries }

    /// The managers that take part in exchanges.
    var managers: NetworkManagers { means.managers }

    /// The observers of single traces.
    var taps: ExchangeTaps { means.taps }

    /// Sets the function that is called after each sign-in, with the credential and the account.
    func observeSignIns(_ observer: @escaping @Sendable (String, String) -> Void) {
        means.vault.observeSignIns(observer)
    }

    /// The network of the active manifest.
    var active: ManifestNetwork { state.withLock { $0 } }

    /// The pipeline of the host program's exchanges.
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
    }

    /// Returns the network configured by a manifest.
    func network(of document: ManifestDocument) -> ManifestNetwork {
        ManifestNetwork(document, means, in: document.folder ?? folder)
    }
}

extension ManifestDocument {
    /// The folder of the manifest; `nil` if it is not a file.
    fileprivate var folder: String? { path.map { FilePath.folder(of: FilePath.absolute($0)) } }
}
