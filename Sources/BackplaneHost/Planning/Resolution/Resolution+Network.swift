import Backplane
import BackplaneBoundary
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork

extension Resolution.Draft {
    /// Reports names of network parts that are not managers, or whose managers do not provide the required contract.
    mutating func compareNetwork() {
        let network = document.manifest.network, root = ManifestPath() / "network"
        for (name, manager) in network.executors.sorted(by: { $0.key < $1.key }) {
            compare(manager, at: root / "executors" / name, as: "an executor", HTTPExecuting.self)
        }
        for (index, filter) in network.filters.enumerated() {
            let path = root / "filters" / index
            compare(filter.manager, at: path, as: "a filter", ExchangeFiltering.self)
        }
        for (index, manager) in network.observers.enumerated() {
            compare(manager, at: root / "observers" / index, as: "an observer", ExchangeObserving.self)
        }
        for (name, manager) in network.serializers.sorted(by: { $0.key < $1.key }) {
            compare(manager, at: root / "serializers" / name, as: "a serializer", Serializing.self)
        }
        for (name, credential) in network.credentials.sorted(by: { $0.key < $1.key }) {
            guard case .component(let manager, _) = credential.scheme else { continue }
            compare(
                manager, at: root / "credentials" / name / "manager", as: "an authenticator", Authenticating.self)
        }
    }

    private mutating func compare<C: Contract>(
        _ manager: String, at path: ManifestPath, as part: String, _ contract: C.Type
    ) {
        let needed = ContractDescription(of: contract), place = document.place(of: path)
        guard definitions[manager] != nil else {
            // A filter is a name, or an object with one.
            let shown = document.shown(document.shown(manager, at: path / "manager"), at: path)
            return report(.unknownManager(shown, among: names, at: place), of: nil)
        }
        guard let entry = choices[manager]?.first?.entry,
            let difference = entry.component.contract.difference(from: needed)
        else { return }
        report(
            BackplaneError(
                .wireMismatch,
                "`\(manager)` cannot be \(part): \(difference); \(part) provides \(needed.name) \(needed.version)",
                at: place), of: nil)
    }
}
