internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// Finds the component of each class that a manager's definition names.
    mutating func chooseClasses(of name: String) {
        guard let definition = definitions[name] else { return }
        let path = root / name
        var choice = Resolution.Choice()
        choice.manager = choose(definition.className, .manager, definition.version, of: name, at: path)
        if let controller = definition.dataAccessController {
            choice.dataAccessController = choose(controller, of: name, at: path / ReservedLabel.dataAccessController)
        }
        if let controller = definition.communicationController {
            let path = path / ReservedLabel.communicationController
            choice.communicationController = choose(controller.className, .communicationController, controller.version, of: name, at: path)
            for (index, service) in controller.services.enumerated() {
                let entry = choose(service.className, .networkService, service.version, of: name, at: path / "services" / index)
                choice.services.append(entry.map { Resolution.Identity(entry: $0, configuration: service.networkServiceConfiguration.json) })
            }
        }
        choices[name] = choice
    }

    private mutating func choose(_ controller: DataAccessControllerDefinition, of name: String, at path: ManifestPath) -> Resolution.Identity? {
        let namespace = controller.namespace ?? controller.className
        if !namespace.namesFolder {
            let words = "`\(document.shown(namespace, at: path / "namespace"))` cannot name a folder; give it a `namespace` of letters, digits and the like"
            report(.manifestWrongType, words, of: name, at: path / "namespace")
        }
        return choose(controller.className, .dataAccessController, controller.version, of: name, at: path).map {
            Resolution.Identity(entry: $0, configuration: controller.configuration.json, namespace: namespace)
        }
    }

    private mutating func choose(
        _ className: String, _ role: Role, _ range: VersionRange?, of name: String, at path: ManifestPath
    ) -> Catalogue.Entry? {
        if let entry = catalogue.best(className, as: role, in: range) { return entry }
        let entries = catalogue.entries(named: className)
        let inRole = entries.filter { $0.component.role == role }
        if let range, !inRole.isEmpty {
            let there = inRole.map { "\($0.component.version) (plugin `\($0.plugin)`)" }.joined(separator: ", ")
            report(.versionOutOfRange, "no version of `\(className)` is in \(range); there is \(there)", of: name, at: path / "version")
        } else if let other = entries.first {
            report(.wrongRole, "\(other) is a \(other.component.role), not a \(role)", of: name, at: path / "className")
        } else {
            let path = path / "className"
            let hint = mayHint() ? "; \(suggestion(for: className, role))" : ""
            let words = "no plugin registers a class `\(document.shown(className, at: path))`\(hint)"
            report(.unknownClass, words, of: name, at: path)
        }
        return nil
    }

    private func suggestion(for className: String, _ role: Role) -> String {
        let names = catalogue.classNames(as: role)
        if names.isEmpty {
            // A plain Nemo Logic manifest names no plugins.
            let advice = document.manifest.plugins == nil && catalogue.entries.isEmpty ? "; the manifest names no plugins: give a folder of them with --plugin-path" : ""
            return "none registers a \(role)\(advice)"
        }
        let suggestions = NameSuggestions(for: className, among: names)
        return suggestions.question ?? "as a \(role) there is \(suggestions.list)"
    }
}

extension String {
    /// Whether it is one step of a path, in every file system.
    fileprivate var namesFolder: Bool {
        !isEmpty && self != "." && self != ".." && utf8.count <= 255 && !utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
    }
}
