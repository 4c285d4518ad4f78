internal import Backplane

/// Turns a value into a manifest and collects every problem on the way, instead of stopping at the first.
struct ManifestReader {
    private(set) var problems: [Problem] = []
    private(set) var dialect = ManifestDialect.backplane
    /// The manager whose definition is being read.
    private var manager: String?

    static let supportedVersion: Int64 = 1

    mutating func read(_ value: ManifestValue) -> Manifest {
        guard let root = section(value, at: ManifestPath()) else { return Manifest(managers: [:]) }
        if root.values["manifestVersion"] != nil { return ownManifest(root) }
        if isMissingVersion(root) {
            report(.manifestMissingKey, "`managers` without `manifestVersion`; add `\"manifestVersion\": \(Self.supportedVersion)`", at: root.path / "manifestVersion")
            return Manifest(managers: [:])
        }
        dialect = .nemoLogic
        return Manifest(managers: managers(in: root))
    }

    private mutating func ownManifest(_ root: Section) -> Manifest {
        let version = root.path / "manifestVersion"
        switch root.values["manifestVersion"] {
        case .integer(Self.supportedVersion)?: break
        case .integer(let other)?:
            report(.manifestUnsupported, "manifest version \(other) is not supported; supported is \(Self.supportedVersion)", at: version)
            return Manifest(managers: [:])
        case let other:
            report(.manifestWrongType, "expected an integer, found \(other?.kind ?? "nothing")", at: version)
            return Manifest(managers: [:])
        }
        warnOfUnknownKeys(in: root, known: .root)
        let plugins = array("plugins", in: root).map { plugins in
            plugins.enumerated().compactMap { index, value in plugin(value, at: root.path / "plugins" / index) }
        }
        guard root.values["managers"] != nil else {
            report(.manifestMissingKey, "`managers` is missing", at: root.path / "managers")
            return Manifest(plugins: plugins, managers: [:])
        }
        return Manifest(plugins: plugins, managers: dictionary("managers", in: root).map { managers(in: $0) } ?? [:])
    }

    /// One of ours that lost its version would otherwise be read as managers named `plugins` and `managers`.
    private func isMissingVersion(_ root: Section) -> Bool {
        guard case .dictionary(let managers)? = root.values["managers"] else { return false }
        return managers["className"] == nil
    }

    private mutating func plugin(_ value: ManifestValue, at path: ManifestPath) -> PluginReference? {
        guard let section = section(value, at: path) else { return nil }
        let before = problems.count
        let library = requiredString("library", in: section)
        let version = versionRange(in: section)
        let sha256 = string("sha256", in: section)
        if let sha256, sha256.utf8.count != 64 || !sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            report(.manifestWrongType, "expected 64 hexadecimal digits, found `\(sha256)`", at: path / "sha256")
        }
        let resources = string("resources", in: section)
        if let resources, resources.isEmpty || resources.contains("/") || [".", ".."].contains(resources) {
            report(.manifestWrongType, "expected the name of a folder beside the library, found `\(resources)`", at: path / "resources")
        }
        let isSound = problems.count == before
        warnOfUnknownKeys(in: section, known: .plugin)
        guard isSound, let library else { return nil }
        return PluginReference(library: library, version: version, sha256: sha256?.lowercased(), resources: resources)
    }

    private mutating func managers(in section: Section) -> [String: ManagerDefinition] {
        guard section.values.count <= ManifestLimits.managers else {
            let words = "\(section.values.count) managers; a manifest may have \(ManifestLimits.managers)"
            report(.manifestUnsupported, words, at: section.path)
            return [:]
        }
        var definitions: [String: ManagerDefinition] = [:]
        for (name, value) in section.values.sorted(by: { $0.key < $1.key }) {
            manager = name
            defer { manager = nil }
            let before = problems.count
            let definition = definition(value, at: section.path / name)
            if !problems[before...].contains(where: { $0.severity == .error }) { definitions[name] = definition }
        }
        return definitions
    }

    mutating func report(_ code: BackplaneError.Code, _ message: String, at path: ManifestPath, severity: Problem.Severity = .error) {
        problems.append(Problem(severity, manager: manager, BackplaneError(code, message, at: path.description)))
    }
}
