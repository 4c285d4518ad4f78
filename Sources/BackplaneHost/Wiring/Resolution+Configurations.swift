internal import Backplane
internal import BackplaneDocuments
internal import FoundationEssentials

extension Resolution.Draft {
    /// Reports what the chosen classes find wrong with their configurations, which an instance would find as well.
    mutating func reviewConfigurations(of name: String, _ review: Resolution.Review) {
        guard let definition = definitions[name], let choice = choices[name] else { return }
        let path = root / name
        self.review(choice.manager, definition.configuration.json, of: name, at: path / "configuration", review)
        if let identity = choice.dataAccessController {
            self.review(identity.entry, identity.configuration, of: name, at: path / ReservedLabel.dataAccessController / "configuration", review)
        }
        guard let controller = definition.communicationController else { return }
        let controllerPath = path / ReservedLabel.communicationController
        self.review(choice.communicationController, controller.configuration.json, of: name, at: controllerPath / "configuration", review)
        for (index, identity) in choice.services.enumerated() {
            let path = controllerPath / "services" / index / "networkServiceConfiguration"
            if let identity { self.review(identity.entry, identity.configuration, of: name, at: path, review) }
        }
    }

    private mutating func review(
        _ entry: Catalogue.Entry?, _ configuration: Data, of name: String, at path: ManifestPath, _ review: Resolution.Review
    ) {
        guard let entry else { return }
        do throws(BackplaneError) {
            for key in try review(entry, configuration).get() {
                let error = BackplaneError(.manifestUnknownKey, "\(entry) knows no `\(key.lastStep)` in its configuration", at: document.place(of: key, below: path))
                report(error, of: name, severity: .warning)
            }
        } catch {
            var error = error
            error.location = document.place(of: error.location ?? "", below: path)
            report(error, of: name)
        }
    }
}

extension ManifestDocument {
    /// Where a value is written, told by a pointer from another place.
    fileprivate func place(of pointer: String, below path: ManifestPath) -> String {
        origins(below: path).place(of: pointer) ?? place(of: path) + pointer
    }
}

extension String {
    /// The last key of a JSON pointer.
    fileprivate var lastStep: String { split(separator: "/").last.map(String.init) ?? self }
}
