package import Backplane
package import FoundationEssentials

/// What a manifest comes to with the components that are registered: a plan for all that is sound, and every problem.
///
/// A function of its arguments alone, in six steps: choose a class for every definition, compare that with the lock, have the
/// classes look at their configurations, compare every wire with what it would be connected to, look for clashes between
/// managers, lay out those that are left.
package struct Resolution: Sendable {
    /// Has a class look at a configuration: the keys, as JSON pointers, that it does not know, or what is wrong with it.
    package typealias Review = (Catalogue.Entry, _ configuration: Data) -> Result<[String], BackplaneError>

    package let plan: Plan
    /// The document's problems and those found here, whole manifest first, then manager by manager.
    package let problems: [Problem]
    /// What was chosen for every definition, by the keys of the manifest's lock.
    package let lock: [String: LockedClass]

    package init(
        _ document: ManifestDocument, catalogue: Catalogue, review: Review = { _, _ in .success([]) }
    ) {
        var draft = Draft(document, catalogue)
        for name in draft.names { draft.chooseClasses(of: name) }
        lock = draft.lock
        draft.compareLock()
        for name in draft.names { draft.reviewConfigurations(of: name, review) }
        for name in draft.names { draft.compareWires(of: name) }
        draft.findSharedFolders()
        draft.compareDependencies()
        plan = draft.plan()
        problems = document.positioning(draft.problems.grouped)
    }

    /// A definition, and the component that was chosen for it.
    struct Choice {
        let definition: ComponentDefinition
        /// `nil`: none fits, which has been reported.
        let entry: Catalogue.Entry?
        /// As JSON.
        let configuration: Data

        var identity: Identity? { entry.map { Identity(entry: $0, configuration: configuration, namespace: definition.namespace) } }
    }

    /// What two definitions have in common if they are one component.
    struct Identity: Hashable {
        var entry: Catalogue.Entry
        var configuration: Data
        var namespace: String?
    }

    /// The state of the six steps.
    struct Draft {
        let document: ManifestDocument
        let catalogue: Catalogue
        let definitions: [String: ManagerDefinition]
        /// The managers that could be read, in order of their names.
        let names: [String]
        /// Where the managers are in the manifest.
        let root: ManifestPath
        /// For each manager, its own first.
        var choices: [String: [Choice]] = [:]
        private(set) var problems: [Problem]
        /// How often names may be compared with all others for a hint: a manifest may have more mistakes than anybody reads.
        private var hintsLeft = 200
        /// The errors of each manager that has some.
        private(set) var errors: [String: [BackplaneError]]

        init(_ document: ManifestDocument, _ catalogue: Catalogue) {
            (self.document, self.catalogue) = (document, catalogue)
            definitions = document.manifest.managers
            names = definitions.keys.sorted()
            root = document.dialect.managers
            problems = document.problems
            errors = document.problems.reduce(into: [:]) { errors, problem in
                guard problem.severity == .error, let name = problem.manager else { return }
                errors[name, default: []].append(problem.error)
            }
        }

        mutating func mayHint() -> Bool {
            hintsLeft -= 1
            return hintsLeft >= 0
        }

        mutating func report(
            _ code: BackplaneError.Code, _ message: String, of name: String, at path: ManifestPath, severity: Problem.Severity = .error,
            causes: [BackplaneError] = []
        ) {
            report(BackplaneError(code, message, at: document.place(of: path), causes: causes), of: name, severity: severity)
        }

        mutating func report(_ error: BackplaneError, of name: String?, severity: Problem.Severity = .error) {
            problems.append(Problem(severity, manager: name, error))
            if severity == .error, let name { errors[name, default: []].append(error) }
        }
    }
}
