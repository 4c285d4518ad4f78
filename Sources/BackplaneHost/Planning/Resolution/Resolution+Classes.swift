internal import Backplane
internal import BackplaneDocuments

extension Resolution.Draft {
    /// The path of the plugins in the manifest.
    static let plugins = ManifestPath() / "plugins"

    /// Chooses the component class for each definition of a manager.
    mutating func chooseClasses(of name: String) {
        var chosen: [Resolution.Choice] = []
        for definition in document.definitions(of: name) {
            if let namespace = definition.namespace {
                let source = namespace == definition.className ? "className" : "namespace"
                requireFolderName(
                    namespace, of: name, at: definition.path / "namespace", from: definition.path / source)
                if let was = definition.was {
                    requireFolderName(was, of: name, at: definition.path / "was", from: definition.path / "was")
                }
            }
            chosen.append(
                Resolution.Choice(
                    definition: definition, entry: choose(definition, of: name),
                    configuration: definition.configuration.json))
        }
        choices[name] = chosen
    }

    /// - Parameter source: The path of the string that is the name.
    private mutating func requireFolderName(
        _ namespace: String, of name: String, at path: ManifestPath, from source: ManifestPath
    ) {
        guard !namespace.namesFolder else { return }
        let words =
            "`\(document.shown(namespace, at: source))` is not usable as a folder name; set a `namespace` of letters "
            + "and digits"
        report(.manifestWrongType, words, of: name, at: path)
    }

    private mutating func choose(_ definition: ComponentDefinition, of name: String) -> Catalogue.Entry? {
        let (className, role, path) = (definition.className, definition.role, definition.path)
        if let choice = catalogue.builtIn(for: definition) {
            for problem in choice.problems { report(problem.error, of: name, severity: problem.severity) }
            return choice.entry
        }
        if let entry = catalogue.best(className, as: role, in: definition.range) { return entry }
        let entries = catalogue.entries(named: className)
        let inRole = entries.filter { $0.component.role == role }
        if let range = definition.range, !inRole.isEmpty {
            let there = inRole.map { "\($0.component.version) (plugin `\($0.plugin)`)" }.joined(separator: ", ")
            report(
                .versionOutOfRange, "no version of `\(className)` is in \(range); registered: \(there)", of: name,
                at: path / "version")
        } else if let other = entries.first {
            report(.wrongRole, "\(other) is a \(other.component.role), not a \(role)", of: name, at: path / "className")
        } else {
            let suggestions = mayHint() ? NameSuggestions(for: className, among: catalogue.classNames(as: role)) : nil
            let isConsequence = suggestions?.nearest == nil && (!loadErrors.isEmpty || arePluginsMisspelt())
            let hint = suggestions.map { "; \(text(of: $0, role, namesPlugins: isConsequence))" } ?? ""
            report(
                .unknownClass, "no plugin registers a class `\(definition.writtenClassName)`\(hint)", of: name,
                at: path / "className", isConsequence: isConsequence)
        }
        return nil
    }

    /// Returns whether another key probably represents the plugins, and reports it as an error.
    private mutating func arePluginsMisspelt() -> Bool {
        document.manifest.plugins == nil && isMisspelt(Self.plugins, of: nil)
    }

    private func text(of suggestions: NameSuggestions, _ role: Role, namesPlugins: Bool) -> String {
        if suggestions.isEmpty {
            // A plain Nemo Logic manifest does not list plugins.
            let advice =
                document.manifest.plugins == nil && catalogue.entries.isEmpty && !namesPlugins
                ? "; the manifest names no plugins: specify their folder with `HostOptions.pluginPaths`" : ""
            return "none registers a \(role)\(advice)"
        }
        return suggestions.question ?? "registered as a \(role): \(suggestions.list)"
    }
}

extension String {
    /// A Boolean value that indicates whether the text is a valid folder name on every file system.
    fileprivate var namesFolder: Bool {
        !isEmpty && self != "." && self != ".." && utf8.count <= 255
            && !utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
    }
}
