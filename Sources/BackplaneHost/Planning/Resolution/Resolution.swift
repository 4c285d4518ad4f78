package import Backplane
package import FoundationEssentials

/// The result of matching a manifest with the registered components: a plan of all valid parts, and every problem.
///
/// It is a pure function of its arguments, in six steps: choose a class for every definition, compare the classes with
/// the lock, let the classes review their configurations, compare every wire with its provider, look for conflicts
/// between managers, and plan the remaining managers.
package struct Resolution: Sendable {
    /// A function that lets a class review a configuration, and returns JSON pointers to unknown keys, or an error.
    package typealias Review = (Catalogue.Entry, _ configuration: Data) -> Result<[String], BackplaneError>

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
    package init(
        _ document: ManifestDocument, catalogue: Catalogue, loadErrors: [BackplaneError] = [],
        review: Review = { _, _ in .success([]) }
    ) {
        var draft = Draft(document, catalogue, loadErrors)
        for name in draft.names { draft.chooseClasses(of: name) }
        lock = draft.lock
        draft.compareLock()
        for name in draft.names {
            draft.warnOfUnknownKinds(of: name)
            draft.reviewConfigurations(of: name, review)
        }
        for name in draft.names { draft.compareWires(of: name) }
        draft.findSharedFolders()
        draft.compareFormerNames()
        draft.compareDependencies()
        draft.compareNetwork()
        draft.compareCredentials()
        plan = draft.plan()
        problems = document.positioning(draft.problems.grouped)
    }

    /// A definition and the component class chosen for it.
    ///
    /// A class, because copying a value with so many parts would retain each of them.
    final class Choice: Sendable {
        let definition: ComponentDefinition
        /// The chosen class; `nil` if none matches, which has already been reported.
        let entry: Catalogue.Entry?
        /// The configuration as JSON.
        let configuration: Data

        init(definition: ComponentDefinition, entry: Catalogue.Entry?, configuration: Data) {
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
        /// The path of the managers in the manifest.
        let root: ManifestPath
        /// The choices for each manager, beginning with its own class.
        var choices: [String: [Choice]] = [:]
        private(set) var problems: [Problem]
        /// The number of hints that may still be computed by comparing names, because there may be many mistakes.
        private var hintsLeft = 200
        /// The errors of each manager that has any.
        private(set) var errors: [String: [Problem]]

        init(_ document: ManifestDocument, _ catalogue: Catalogue, _ loadErrors: [BackplaneError]) {
            (self.document, self.catalogue, self.loadErrors) = (document, catalogue, loadErrors)
            definitions = document.manifest.managers
            names = definitions.keys.sorted()
            root = document.dialect.managers
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
