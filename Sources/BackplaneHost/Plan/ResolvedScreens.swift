package import Backplane
import BackplaneDocuments
package import BackplaneScreens

extension ComponentDescription {
    /// Whether the class provides the contract `Screens`.
    var hasScreens: Bool { contract?.name == Screens.name }

    /// Returns the screens that the annotation of a class with the contract `Screens` lists; `nil` for any other class.
    ///
    /// - Throws: `plugin.invalid-answer` for an annotation that lists no screens.
    package func screens() throws(BackplaneError) -> ScreenAnnotation? {
        guard hasScreens, let annotation else { return nil }
        return try ScreenAnnotation(json: annotation)
    }

    /// The screens that the class lists; `nil` if there are none that can be read.
    package var listedScreens: [ScreenAnnotation.Entry]? {
        guard let list = try? screens(), !list.screens.isEmpty else { return nil }
        return list.screens
    }
}

extension Resolution.Draft {
    /// Finds the manager of each screen, and reports mistakes.
    ///
    /// Mistakes are unknown screens and managers in the section `screens`, and screens that several managers have
    /// without a choice in that section.
    mutating func compareScreens() {
        var owners: [String: [String]] = [:]
        for name in names {
            let screens = listed("screens", of: name, ComponentDescription.screens) { $0.problems ?? [] }?.screens ?? []
            for identifier in Set(screens.map(\.identifier)) { owners[identifier, default: []].append(name) }
        }
        let settings = document.manifest.screens ?? ScreenSettings(), root = ManifestPath() / "screens"
        var clashes: [(identifier: String, managers: [String])] = []
        for (identifier, managers) in owners.sorted(by: { $0.key < $1.key }) {
            let chosen = managers.count == 1 ? managers[0] : settings.use[identifier]
            if let chosen, managers.contains(chosen) {
                screens[identifier] = chosen
            } else {
                clashes.append((identifier, managers))
            }
        }
        report(clashes)
        for (identifier, manager) in settings.use.sorted(by: { $0.key < $1.key }) {
            let path = root / "use" / identifier
            compare(manager, at: path, as: "a manager of screens", Screens.self)
            guard let having = owners[identifier] else {
                reportUnknown(identifier, among: owners.keys, at: path)
                continue
            }
            guard definitions[manager] != nil, !having.contains(manager) else { continue }
            let words =
                "`\(document.shown(manager, at: path))` does not have the screen; \(NameSuggestions.list(having)) does"
            report(BackplaneError(.screenUnknown, words, at: document.place(of: path)), of: nil, severity: .warning)
        }
        let tabs = settings.tabs.enumerated().map { ($1.destination, root / "tabs" / $0) }
        for (destination, path) in (settings.root.map { [($0, root / "root")] } ?? []) + tabs
        where owners[destination.screen] == nil {
            reportUnknown(destination.screen, among: owners.keys, at: path)
        }
        if let flow = settings.flow { compare(flow, at: root / "flow", as: "a flow", Flow.self) }
    }

    /// Reports a screen that no manager has: as a warning, because a program can register it.
    private mutating func reportUnknown(
        _ identifier: String, among others: some Sequence<String>, at path: ManifestPath
    ) {
        let shown = document.shown(document.shown(identifier, at: path / "screen"), at: path)
        let error = BackplaneError.unknownScreen(
            shown, "no manager has the screen, so the program must register it", among: others,
            at: document.place(of: path))
        report(error, of: nil, severity: .warning)
    }

    /// Reports the clashes of each manager as one problem, with the first of them.
    private mutating func report(_ clashes: [(identifier: String, managers: [String])]) {
        func name(_ manager: String) -> String {
            let plugin = choices[manager]?.first?.entry?.plugin
            return "`\(manager)`\(plugin.map { " of plugin `\($0)`" } ?? "")"
        }
        for manager in names {
            let own = clashes.filter { $0.managers.contains(manager) }
            guard let first = own.first, let other = first.managers.first(where: { $0 != manager }) else { continue }
            let others = own.count == 1 ? "" : ", and \(own.count - 1) more screen\(own.count == 2 ? "" : "s")"
            let words =
                "\(name(manager)) has the screen `\(first.identifier)`, as \(name(other)) does\(others); choose one "
                + "manager with `screens.use`"
            report(.screenClash, words, of: manager, at: root / manager)
        }
    }
}

extension BackplaneError {
    /// Returns the error for a screen that does not exist.
    ///
    /// - Parameters:
    ///   - reason: The place where it was looked for.
    ///   - identifiers: The identifiers of the screens that exist.
    package static func unknownScreen(
        _ identifier: String, _ reason: String, among identifiers: some Sequence<String>, at location: String? = nil
    ) -> BackplaneError {
        let suggestions = NameSuggestions(for: identifier, among: identifiers)
        let hint = suggestions.question ?? (suggestions.isEmpty ? "there are none" : "there are \(suggestions.list)")
        return BackplaneError(.screenUnknown, "`\(identifier)` is unknown: \(reason); \(hint)", at: location)
    }
}
