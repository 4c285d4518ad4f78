import Backplane
import BackplaneBoundary
import BackplaneDocuments
import BackplaneNetwork

extension Resolution.Draft {
    /// Reports executors that the manifest names and that are no managers, or none that carry out exchanges.
    mutating func compareExecutors() {
        let needed = ContractDescription(of: HTTPExecuting.self)
        for (name, manager) in document.manifest.network.executors.sorted(by: { $0.key < $1.key }) {
            let path = ManifestPath() / "network" / "executors" / name, place = document.place(of: path)
            guard definitions[manager] != nil else {
                report(.unknownManager(manager, among: names, at: place), of: nil)
                continue
            }
            guard let entry = choices[manager]?.first?.entry,
                let difference = entry.component.contract.difference(from: needed)
            else { continue }
            report(
                BackplaneError(
                    .wireMismatch,
                    "`\(manager)` cannot be an executor: \(difference); an executor provides \(needed.name) \(needed.version)",
                    at: place), of: nil)
        }
    }
}
