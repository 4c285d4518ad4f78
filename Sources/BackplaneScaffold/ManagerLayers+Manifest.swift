import BackplaneDocuments
import BackplaneHost

extension ManagerLayers {
    /// The manager as a manifest has it.
    var definition: ManifestValue {
        var members: [String: ManifestValue] = ["className": .string(manager)]
        if hasStore { members["dataAccessController"] = .dictionary(["className": .string(store)]) }
        if hasService { members["communicationController"] = .dictionary(["className": .string(communication), "services": .array([serviceDefinition])]) }
        return .dictionary(members)
    }

    private var serviceDefinition: ManifestValue {
        .dictionary([
            "className": .string(service), "propertyName": "feed", "networkServiceConfiguration": .dictionary(["url": .string("file:\(sample)")]),
        ])
    }

    /// A manifest with this manager alone.
    func manifestText(library: String) -> String {
        let manifest = ManifestValue.dictionary([
            "manifestVersion": 1, "plugins": .array([.dictionary(["library": .string(library)])]), "managers": .dictionary([manager: definition]),
        ])
        // Texts and a number: JSON has them all.
        return (try? manifest.encoded(as: .json)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
