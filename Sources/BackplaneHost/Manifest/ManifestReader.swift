internal import Backplane
internal import BackplaneDocuments

/// A reader that turns a value into a manifest and collects all problems instead of stopping at the first.
struct ManifestReader {
    /// The problems found, in the order of discovery: the first ``ManifestLimits/problems`` of each severity, and
    /// always the first error of each manager.
    private(set) var problems: [Problem] = []
    /// The numbers of errors and of warnings, with those that are not listed.
    private(set) var errorCount = 0, warningCount = 0
    /// The managers with a listed error.
    private var faulty: Set<String> = []
    /// The number of services that may still be read.
    var servicesLeft = ManifestLimits.services
    private(set) var dialect = ManifestDialect.backplane
    /// The name of the manager whose definition is being read.
    private var manager: String?
    /// The name of the environment to choose; `nil` if there is none.
    let environment: String?
    /// A Boolean value that indicates whether only the problems of this environment are of interest.
    var isRehearsal = false
    /// A Boolean value that indicates whether to read the manifest as if it had no lock.
    var ignoresLock = false
    /// The function that returns the values of variables.
    let variables: (String) -> String?
    /// The origins of the values that the environment contributed.
    var origins = ManifestOrigins()
    /// The strings with variables in them, as written.
    var spellings: [ManifestPath: String] = [:]
    /// The paths of strings that could not be expanded, which has been reported.
    var unusable: Set<ManifestPath> = []
    /// The paths of the manifest's valid plugins, in order.
    private(set) var pluginPaths: [ManifestPath] = []
    /// The number of bytes that variables may still add.
    var variableBytesLeft = DocumentLimits.bytes

    static let supportedVersion: Int64 = 1

    init(environment: String?, variables: @escaping (String) -> String?) {
        (self.environment, self.variables) = (environment, variables)
    }

    mutating func read(_ value: ManifestValue) -> Manifest {
        guard let root = section(value, at: ManifestPath()) else { return Manifest(managers: [:]) }
        if root.values["manifestVersion"] != nil { return ownManifest(root) }
        if isMissingVersion(root) {
            report(
                .manifestMissingKey,
                "`managers` requires `manifestVersion`; add `\"manifestVersion\": \(Self.supportedVersion)`",
                at: root.path / "manifestVersion")
            return Manifest(managers: [:])
        }
        dialect = .nemoLogic
        let managers = managers(in: root)
        guard let environment else { return Manifest(managers: managers) }
        report(unknownEnvironment(environment, among: []))
        return Manifest(managers: [:])
    }

    private mutating func ownManifest(_ root: Section) -> Manifest {
        let version = root.path / "manifestVersion"
        switch root.values["manifestVersion"] {
        case .integer(Self.supportedVersion)?: break
        case .integer(let other)?:
            report(
                .manifestUnsupported,
                "manifest version \(other) is not supported; expected \(Self.supportedVersion)", at: version)
            return Manifest(managers: [:])
        case let other:
            report(.manifestWrongType, "expected an integer, found \(other?.kind ?? "nothing")", at: version)
            return Manifest(managers: [:])
        }
        reportUnknownKeys(in: root, known: .root)
        _ = string("$schema", in: root)
        // Without the requested environment nothing may run, but all problems are reported.
        let chosen = choosingEnvironment(in: root)
        var manifest = content(of: chosen ?? root), mayRun = chosen != nil
        // The intention behind a faulty section is unknown, and a default in its place might do harm.
        if !readSections(of: chosen ?? root, into: &manifest) { mayRun = false }
        switch lock(in: root, of: manifest.managers.keys) {
        case .none: break
        case .read(let lock): manifest.lock = lock
        case .unreadable: mayRun = false
        }
        return mayRun ? manifest : Manifest(managers: [:])
    }

    private mutating func content(of root: Section) -> Manifest {
        let plugins = array("plugins", in: root, most: ManifestLimits.plugins).map { plugins in
            plugins.enumerated().compactMap { index, value in plugin(value, at: root.path / "plugins" / index) }
        }
        guard root.values["managers"] != nil else {
            report(.manifestMissingKey, "`managers` is missing", at: root.path / "managers")
            return Manifest(plugins: plugins, managers: [:])
        }
        return Manifest(plugins: plugins, managers: dictionary("managers", in: root).map { managers(in: $0) } ?? [:])
    }

    /// Returns whether the root lacks a version, without which it would be read as managers named `plugins` and
    /// `managers`.
    private func isMissingVersion(_ root: Section) -> Bool {
        guard case .dictionary(let managers)? = root.values["managers"] else { return false }
        return managers["className"] == nil
    }

    private mutating func plugin(_ value: ManifestValue, at path: ManifestPath) -> PluginReference? {
        let before = (errorCount, warningCount)
        guard let section = section(expanding(value, at: path), at: path) else { return nil }
        let library = requiredString("library", in: section)
        let version = versionRange(in: section)
        let sha256 = string("sha256", in: section)
        if let sha256, sha256.utf8.count != 64 || !sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            report(
                .manifestWrongType, "expected 64 hexadecimal digits, found `\(shown(sha256, at: path / "sha256"))`",
                at: path / "sha256")
        }
        let resources = string("resources", in: section)
        if let resources, resources.isEmpty || resources.contains("/") || [".", ".."].contains(resources) {
            report(
                .manifestWrongType,
                "expected the name of a folder next to the library, found `\(shown(resources, at: path / "resources"))`",
                at: path / "resources")
        }
        let isSound = (errorCount, warningCount) == before
        reportUnknownKeys(in: section, known: .plugin)
        guard isSound, let library else { return nil }
        pluginPaths.append(path)
        return PluginReference(library: library, version: version, sha256: sha256?.lowercased(), resources: resources)
    }

    private mutating func managers(in section: Section) -> [String: ManagerDefinition] {
        guard section.values.count <= ManifestLimits.managers else {
            let words = "expected at most \(ManifestLimits.managers) managers, found \(section.values.count)"
            report(.manifestUnsupported, words, at: section.path)
            return [:]
        }
        var definitions: [String: ManagerDefinition] = [:]
        for (name, value) in section.values.sorted(by: { $0.key < $1.key }) {
            let before = errorCount
            let definition = reading(name) { reader in
                reader.definition(reader.expanding(value, at: section.path / name), at: section.path / name)
            }
            if errorCount == before { definitions[name] = definition }
        }
        return definitions
    }

    /// Attributes problems reported during `body` to a manager.
    mutating func reading<Value>(_ name: String?, _ body: (inout Self) -> Value) -> Value {
        manager = name
        defer { manager = nil }
        return body(&self)
    }

    mutating func report(
        _ code: BackplaneError.Code, _ message: String, at path: ManifestPath, severity: Problem.Severity = .error,
        intended: ManifestPath? = nil
    ) {
        let place = origins.place(of: path.description) ?? path.description
        report(BackplaneError(code, message, at: place), severity: severity, intended: intended)
    }

    mutating func report(
        _ error: BackplaneError, severity: Problem.Severity = .error, intended: ManifestPath? = nil
    ) {
        switch severity {
        case .error: errorCount += 1
        case .warning: warningCount += 1
        }
        var isFirst = false
        if severity == .error, let manager { isFirst = faulty.insert(manager).inserted }
        guard isFirst || (severity == .error ? errorCount : warningCount) <= ManifestLimits.problems else { return }
        var problem = Problem(severity, manager: manager, error)
        problem.intended = intended
        problems.append(problem)
    }

    /// The problems found, with missing keys as consequences of misspelt ones, and the number of those not listed.
    var summary: [Problem] {
        let found: [(severity: Problem.Severity, count: Int, noun: String)] = [
            (.error, errorCount, "error"), (.warning, warningCount, "warning"),
        ]
        return attributed
            + found.compactMap { severity, count, noun in
                let more = count - problems.count { $0.severity == severity }
                guard more > 0 else { return nil }
                return Problem(
                    severity, manager: nil,
                    BackplaneError(
                        .manifestUnsupported,
                        "\(more) more \(noun)\(more == 1 ? " is" : "s are") not listed; correct the listed ones, and check again"
                    ))
            }
    }

    /// The problems, with missing keys as consequences of misspelt ones, which may be written in an environment.
    var attributed: [Problem] {
        var problems = problems
        let misspelt = Dictionary(
            problems.indices.compactMap { index in
                problems[index].intended.map { (origins.place(of: $0.description) ?? $0.description, index) }
            }, uniquingKeysWith: { first, _ in first })
        for index in problems.indices where problems[index].error.code == .manifestMissingKey {
            guard let cause = problems[index].error.location.flatMap({ misspelt[$0] }) else { continue }
            problems[index].isConsequence = true
            problems[cause].severity = .error
        }
        return problems
    }
}
