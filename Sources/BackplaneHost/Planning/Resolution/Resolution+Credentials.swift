import Backplane
import BackplaneDocuments
import BackplaneExchange

extension Resolution.Draft {
    /// Reports nonexistent managers that credentials name, because a misspelt manager would be refused its credential.
    mutating func compareCredentials() {
        for (name, credential) in document.manifest.network.credentials.sorted(by: { $0.key < $1.key }) {
            for (index, manager) in (credential.managers ?? []).enumerated() where definitions[manager] == nil {
                let path = ManifestPath() / "network" / "credentials" / name / "managers" / index
                report(
                    .unknownManager(document.shown(manager, at: path), among: names, at: document.place(of: path)),
                    of: nil)
            }
        }
    }
}
