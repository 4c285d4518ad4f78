import BackplaneDocuments
import BackplaneHost

extension ManagerLayers {
    /// The definition of the manager in a manifest.
    var definition: ManifestValue {
        var members: [String: ManifestValue] = [:]
        if hasStore { members["dataAccessController"] = .dictionary(["className": .string(store)]) }
        if hasService {
            members["communicationController"] = .dictionary([
                "className": .string(communication), "services": .array([serviceDefinition]),
            ])
        }
        if !uses.isEmpty {
            members["uses"] = .dictionary(
                Dictionary(
                    uses.map { ($0.label.unquoted, .string($0.manager)) }, uniquingKeysWith: { first, _ in first }))
        }
        return .dictionary(members)
    }

    private var serviceDefinition: ManifestValue {
        .dictionary([
            "className": .string(service), "propertyName": "feed",
            "configuration": .dictionary(["url": .string("file:\(sample)")]),
        ])
    }

    /// Returns the text of a manifest with only this manager.
    func manifestText(library: String) -> String {
        let manifest = ManifestValue.dictionary([
            "manifestVersion": 1, "plugins": .array([.string(library)]),
            "managers": .dictionary([manager: definition]),
        ])
        // Strings and a number can always be encoded as JSON.
        return (try? manifest.encoded(as: .json)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
