package import Backplane
import BackplaneDocuments
package import FoundationEssentials

/// The result of matching a manifest with the registered components: a plan of all valid parts, and every problem.
///
/// It is a pure function of its arguments, in six steps: choose a class for every definition, compare the classes with
/// the lock, let the classes review their configurations, compare every wire with its provider, look for conflicts
/// between managers, and plan the remaining managers.
package struct Resolution: Sendable {
    /// A function that lets a class review a configuration, and returns JSON pointers to unknown keys, or an error.
    package typealias Review = (Catalogue.Entry, _ configuration: Data) -> Result<[String], BackplaneError>
    /// A function that compares the values of a wire with those of its provider.
    package typealias Fit = (_ user: Catalogue.Entry, _ label: String, _ provider: Catalogue.Entry) -> ContractFit

    package let plan: Plan
    /// The problems of the document and of the resolution: those of the whole manifest, then manager by manager.
    package let problems: [Problem]
    /// The chosen class for every definition, by the keys of the manifest's lock.
    package let lock: [String: LockedClass]

    /// Matches a manifest with the registered components.
    ///
    /// - Parameters:
    ///   - document: The manifest.
    ///   - catalogue: The registered components.
    ///   - loadErrors: The reasons why plugins of the manifest are not in the catalogue. If there are any, a missing
    ///     class is reported as a consequence, unless its name is similar to that of another.
    ///   - review: The function that lets a class review its configuration.
    ///   - fit: The function that compares the values of a wire with those of its provider.
    package init(
        _ document: ManifestDocument, catalogue: Catalogue, loadErrors: [BackplaneError] = [],
        review: Review = { _, _ in .success([]) }, fit: Fit = { _, _, _ in .unknown }
    ) {
        var draft = Draft(document, catalogue, loadErrors)
        for name in draft.names { draft.chooseClasses(of: name) }
        lock = draft.lock
        draft.compareLock()
        for name in draft.names {
            draft.warnOfUnknownKinds(of: name)
            draft.reviewConfigurations(of: name, review)
        }
        for name in draft.names { draft.compareWires(of: name, fit) }
        draft.findSharedFolders()
        draft.compareFormerNames()
        draft.compareRoutes()
        draft.compareScreens()
        draft.compareDependencies()
        draft.compareNetwork()
        draft.compareCredentials()
        plan = draft.plan()
        problems = document.positioning(draft.problems.grouped)
    }

    /// A definition and the component class chosen for it.
    ///
    /// A choice is a class, because copying a value would retain each of its many parts.
    final class Choice: Sendable {
        let definition: PlacedDefinition
        /// The chosen class; `nil` if none matches, which has already been reported.
        let entry: Catalogue.Entry?
        let configuration: Data

        init(definition: PlacedDefinition, entry: Catalogue.Entry?, configuration: Data) {
            (self.definition, self.entry, self.configuration) = (definition, entry, configuration)
        }

        var identity: Identity? {
            entry.map { Identity(entry: $0, configuration: configuration, namespace: definition.namespace) }
        }
    }

    /// The properties that two definitions of the same component have in common.
    struct Identity: Hashable {
        var entry: Catalogue.Entry
        var configuration: Data
        var namespace: String?
    }

    /// The state of the six steps.
    struct Draft {
        let document: ManifestDocument
        let catalogue: Catalogue
        /// The reasons why plugins of the manifest are not in the catalogue.
        let loadErrors: [BackplaneError]
        let definitions: [String: ManagerDefinition]
        /// The managers that could be read, sorted by name.
        let names: [String]
        let root = ManifestPath.managers
        /// The choices for each manager, beginning with its own class.
        var choices: [String: [Choice]] = [:]
        /// The routes of managers, in the order of ``names``.
        var routes: [ManagerRoutes] = []
        /// The managers of screens, by identifier.
        var screens: [String: String] = [:]
        private(set) var problems: [Problem]
        /// The number of hints that may still be computed by comparing names, because there may be many mistakes.
        private var hintsLeft = 200
        /// The errors of each manager that has any.
        private(set) var errors: [String: [Problem]]

        init(_ document: ManifestDocument, _ catalogue: Catalogue, _ loadErrors: [BackplaneError]) {
            (self.document, self.catalogue, self.loadErrors) = (document, catalogue, loadErrors)
            definitions = document.manifest.managers
            names = definitions.keys.sorted()
            problems = document.problems
            errors = document.problems.reduce(into: [:]) { errors, problem in
                guard problem.severity == .error, let name = problem.manager else { return }
                errors[name, default: []].append(problem)
            }
        }

        mutating func mayHint() -> Bool {
            hintsLeft -= 1
            return hintsLeft >= 0
        }

        mutating func report(
            _ code: BackplaneError.Code, _ message: String, of name: String, at path: ManifestPath,
            severity: Problem.Severity = .error,
            causes: [BackplaneError] = [], isConsequence: Bool = false, intended: ManifestPath? = nil
        ) {
            var problem = Problem(
                severity, manager: name, BackplaneError(code, message, at: document.place(of: path), causes: causes))
            (problem.isConsequence, problem.intended) = (isConsequence, intended)
            report(problem)
        }

        mutating func report(_ error: BackplaneError, of name: String?, severity: Problem.Severity = .error) {
            report(Problem(severity, manager: name, error))
        }

        private mutating func report(_ problem: Problem) {
            problems.append(problem)
            if problem.severity == .error, let name = problem.manager { errors[name, default: []].append(problem) }
        }

        /// Returns whether a misspelt key of a manager, or of the manifest, probably represents the one at `path`, and
        /// reports it.
        mutating func isMisspelt(_ path: ManifestPath, of name: String?) -> Bool {
            guard mayHint() else { return false }
            let misspelt = problems.indices.first { index in
                problems[index].manager == name && problems[index].intended.map(path.isWithin) == true
            }
            guard let misspelt else { return false }
            if problems[misspelt].severity == .warning {
                problems[misspelt].severity = .error
                if let name { errors[name, default: []].append(problems[misspelt]) }
            }
            return true
        }
    }
}

extension Resolution.Draft {
    static let plugins = ManifestPath() / "plugins"

    /// Chooses the component class for each definition of a manager.
    mutating func chooseClasses(of name: String) {
        var chosen: [Resolution.Choice] = []
        for definition in document.definitions(of: name) {
            if let namespace = definition.namespace {
                let source = namespace == definition.className ? "className" : "namespace"
                requireFolderName(
                    namespace, of: name, at: definition.path / "namespace", from: definition.path / source)
                if let was = definition.definition.was {
                    requireFolderName(was, of: name, at: definition.path / "was", from: definition.path / "was")
                }
            }
            chosen.append(
                Resolution.Choice(
                    definition: definition, entry: choose(definition, of: name),
                    configuration: definition.definition.configuration.json))
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

    private mutating func choose(_ definition: PlacedDefinition, of name: String) -> Catalogue.Entry? {
        let (className, role, path) = (definition.className, definition.role, definition.path)
        let isDefault = role == .manager && definitions[name]?.className == nil
        let source =
            isDefault ? " (the manager's name; write another as `className` in \(document.place(of: path)))" : ""
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
            report(
                .wrongRole, "\(other) is a \(other.component.role), not a \(role)\(source)", of: name,
                at: path / "className")
        } else {
            let suggestions = mayHint() ? NameSuggestions(for: className, among: catalogue.classNames(as: role)) : nil
            let isConsequence = suggestions?.nearest == nil && (!loadErrors.isEmpty || arePluginsMisspelt())
            let hint = suggestions.map { "; \(text(of: $0, role, namesPlugins: isConsequence))" } ?? ""
            report(
                .unknownClass,
                "no plugin registers a class `\(document.shownClassName(of: definition))`\(source)\(hint)", of: name,
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
    /// Whether the text is a valid folder name on every file system.
    fileprivate var namesFolder: Bool {
        !isEmpty && self != "." && self != ".." && utf8.count <= 255
            && !utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }
    }
}

extension Resolution.Draft {
    /// Reports the errors and unknown keys that the chosen classes find in their configurations.
    mutating func reviewConfigurations(of name: String, _ review: Resolution.Review) {
        for choice in choices[name] ?? [] {
            guard let entry = choice.entry else { continue }
            self.review(entry, choice.configuration, of: name, at: choice.definition.configurationPath, review)
        }
    }

    private mutating func review(
        _ entry: Catalogue.Entry, _ configuration: Data, of name: String, at path: ManifestPath,
        _ review: Resolution.Review
    ) {
        do throws(BackplaneError) {
            for key in try review(entry, configuration).get() {
                let error = BackplaneError(
                    .manifestUnknownKey, "\(entry) has no configuration key `\(key.lastStep)`",
                    at: document.place(of: key, below: path))
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
    /// Returns the location at which a value is written, given a pointer that is relative to another path.
    func place(of pointer: String, below path: ManifestPath) -> String {
        origins(below: path).place(of: pointer) ?? place(of: path) + pointer
    }
}

extension String {
    /// The last key of a JSON pointer (RFC 6901).
    fileprivate var lastStep: String {
        let step = utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last.map { String($0) }
        return (step ?? nil)?.replacing("~1", with: "/").replacing("~0", with: "~") ?? self
    }
}

extension Resolution.Draft {
    /// Returns the annotation of a manager's class, and reports the mistakes in it.
    ///
    /// - Parameters:
    ///   - things: The plural noun for the listed items, for messages.
    ///   - read: The function that reads the annotation; it returns `nil` for a class that lists no such things.
    mutating func listed<Annotation>(
        _ things: String, of name: String,
        _ read: (ComponentDescription) -> () throws(BackplaneError) -> Annotation?,
        problems: (Annotation) -> [String]
    ) -> Annotation? {
        guard let entry = choices[name]?.first?.entry else { return nil }
        do throws(BackplaneError) {
            guard let annotation = try read(entry.component)() else { return nil }
            for problem in problems(annotation) {
                report(.pluginInvalidAnswer, "\(entry): \(problem)", of: name, at: root / name)
            }
            return annotation
        } catch {
            let words = "the \(things) of \(entry) cannot be read from its annotation: \(error.message)"
            report(.pluginInvalidAnswer, words + (error.location.map { " (\($0))" } ?? ""), of: name, at: root / name)
            return nil
        }
    }

    /// Warns of methods of the chosen classes that this host cannot call because their kind is unknown.
    mutating func warnOfUnknownKinds(of name: String) {
        for choice in choices[name] ?? [] {
            guard let entry = choice.entry else { continue }
            for method in entry.component.contract?.methods ?? [] where method.kind.word == nil {
                let words =
                    "\(entry) has the method `\(method.name)`, which is \(method.kind.adjective), so calls to that fail; it needs a newer host"
                report(.callUnimplemented, words, of: name, at: choice.definition.path, severity: .warning)
            }
        }
    }
}

extension Resolution.Draft {
    /// The chosen classes, keyed as in the lock.
    var lock: [String: LockedClass] {
        let chosen = names.flatMap { choices[$0] ?? [] }.compactMap { choice in
            choice.entry.map { (choice.definition.address.lockKey, LockedClass($0)) }
        }
        return Dictionary(chosen) { first, _ in first }
    }

    /// Compares the chosen classes with the manifest's lock, if there is one.
    mutating func compareLock() {
        guard let lock = document.manifest.lock else { return }
        var known: Set<String> = []
        for name in names {
            for choice in choices[name] ?? [] {
                let key = choice.definition.address.lockKey
                known.insert(key)
                compare(choice, with: lock[key], of: name)
            }
        }
        // The definitions of a manager that could not be read are unknown.
        let unread = Set(errors.keys.filter { definitions[$0] == nil }.map(\.pointerStep))
        for key in lock.keys.sorted() where !known.contains(key) && !unread.contains(key.firstStep) {
            let words = "the lock has an entry for `\(key)`, which does not exist; `backplane check --lock` removes it"
            let place = ManifestPath() / "lock" / key
            report(BackplaneError(.lockObsolete, words, at: place.description), of: nil, severity: .warning)
        }
    }

    private mutating func compare(_ choice: Resolution.Choice, with locked: LockedClass?, of name: String) {
        guard let entry = choice.entry else { return }
        let definition = choice.definition
        guard let locked else {
            let words = "the lock has no entry for `\(definition.address.lockKey)`; `backplane check --lock` adds one"
            return report(.lockIncomplete, words, of: name, at: definition.path, severity: .warning)
        }
        let chosen = LockedClass(entry)
        guard chosen != locked else { return }
        let words =
            "the lock has `\(entry.component.className)` \(locked), but the plugins now provide \(chosen); `backplane check --lock` accepts that"
        report(.lockMismatch, words, of: name, at: definition.path / "className")
    }
}

extension LockedClass {
    fileprivate init(_ entry: Catalogue.Entry) {
        self.init(plugin: entry.plugin, version: entry.component.version)
    }
}
