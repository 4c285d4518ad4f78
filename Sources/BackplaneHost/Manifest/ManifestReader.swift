import Backplane
import BackplaneDocuments

/// A reader that turns a value into a manifest and collects all problems instead of stopping at the first.
struct ManifestReader {
    /// The problems found, in the order of discovery: the first ``ManifestLimits/problems`` of each severity, and
    /// always the first error of each manager.
    private(set) var problems: [Problem] = []
    /// The numbers of errors and of warnings, including unlisted ones.
    private(set) var errorCount = 0, warningCount = 0
    /// The managers with a listed error.
    private var faulty: Set<String> = []
    /// The number of services that may still be read.
    var servicesLeft = ManifestLimits.services
    /// Whether the root is the dictionary of managers itself, as in Nemo Logic.
    private(set) var isNemoLogic = false
    private var manager: String?
    /// The name of the environment to choose; `nil` if there is none.
    let environment: String?
    /// Whether to read the manifest as if it had no lock.
    var ignoresLock = false
    let variables: (String) -> String?
    /// The origins of the values that the environment contributed.
    var origins = ManifestOrigins()
    /// The strings with variables in them, as written.
    var spellings: [ManifestPath: String] = [:]
    /// The paths of strings that could not be expanded, which has been reported.
    var unusable: Set<ManifestPath> = []
    /// The paths of the libraries of the manifest's valid plugins, in order.
    private(set) var libraryPaths: [ManifestPath] = []
    /// The paths of services that have their configuration under Nemo Logic's key.
    var nemoServices: Set<ManifestPath> = []
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
        isNemoLogic = true
        origins["managers"] = ManifestOrigins(root.path)
        let managers = managers(in: Section(values: root.values, path: .managers))
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
        if !readLock(of: root, into: &manifest) { mayRun = false }
        return mayRun ? manifest : Manifest(managers: [:])
    }

    private mutating func content(of root: Section) -> Manifest {
        let plugins = array("plugins", in: root, most: ManifestLimits.plugins).map { plugins in
            plugins.enumerated().compactMap { index, value in plugin(value, at: root.path / "plugins" / index) }
        }
        guard root.values["managers"] != nil else {
            report(.manifestMissingKey, "`managers` is missing", at: .managers)
            return Manifest(plugins: plugins, managers: [:])
        }
        return Manifest(plugins: plugins, managers: dictionary("managers", in: root).map { managers(in: $0) } ?? [:])
    }

    /// Returns whether the root lacks a version and would therefore be read as managers named `plugins` and `managers`.
    private func isMissingVersion(_ root: Section) -> Bool {
        guard case .dictionary(let managers)? = root.values["managers"] else { return false }
        return managers["className"] == nil
    }

    private mutating func plugin(_ value: ManifestValue, at path: ManifestPath) -> PluginReference? {
        let before = (errorCount, warningCount), value = expanding(value, at: path)
        if case .string(let library) = value {
            guard !unusable.contains(path), isName(library, at: path) else { return nil }
            libraryPaths.append(path)
            return PluginReference(library: library)
        }
        guard let section = section(value, at: path, expected: "a string or a dictionary") else { return nil }
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
        libraryPaths.append(path / "library")
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
                reader.manager(reader.expanding(value, at: section.path / name), at: section.path / name)
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

    /// The problems, with each missing key as a consequence of a misspelt one, which may be in an environment.
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

extension ManifestReader {
    struct Section {
        var values: [String: ManifestValue]
        var path: ManifestPath
    }

    mutating func section(_ value: ManifestValue, at path: ManifestPath, expected: String = "a dictionary")
        -> Section?
    {
        if case .dictionary(let values) = value { return Section(values: values, path: path) }
        return wrongType(value, expected: expected, at: path)
    }

    /// Reads a dictionary with a limited number of members, which may be missing.
    mutating func dictionary(_ key: String, in section: Section, most: Int) -> Section? {
        guard let section = dictionary(key, in: section) else { return nil }
        guard section.values.count > most else { return section }
        report(.manifestUnsupported, "expected at most \(most) \(key), found \(section.values.count)", at: section.path)
        return nil
    }

    mutating func dictionary(_ key: String, in section: Section) -> Section? {
        section.values[key].flatMap { self.section($0, at: section.path / key) }
    }

    /// Reads an array that may be missing.
    ///
    /// - Parameters:
    ///   - most: The maximum number of elements in all arrays of this key together.
    ///   - left: The maximum number of elements in this array; `nil` means the same.
    mutating func array(_ key: String, in section: Section, most: Int, left: Int? = nil) -> [ManifestValue]? {
        guard let value = section.values[key] else { return nil }
        if case .array(let values) = value {
            guard values.count > left ?? most else { return values }
            report(
                .manifestUnsupported,
                "\(values.count) \(key)\(left.map { $0 < most } == true ? " more" : ""); a manifest may have \(most)",
                at: section.path / key)
            return []
        }
        return wrongType(value, expected: "an array", at: section.path / key)
    }

    /// Reads a string that may be missing but not empty.
    mutating func string(_ key: String, in section: Section) -> String? {
        guard let value = section.values[key], !unusable.contains(section.path / key) else { return nil }
        guard case .string(let text) = value else {
            return wrongType(value, expected: "a string", at: section.path / key)
        }
        guard !text.isEmpty else {
            report(.manifestMissingKey, "`\(key)` is empty", at: section.path / key)
            return nil
        }
        guard text.utf8.count <= ManifestLimits.nameBytes else {
            let words = "expected at most \(ManifestLimits.nameBytes) bytes, found \(text.utf8.count)"
            report(.manifestWrongType, words, at: section.path / key)
            return nil
        }
        return text
    }

    /// Reads a dictionary of dictionaries; the condition for its keys reports the keys that do not meet it.
    mutating func entries<Value>(
        _ key: String, in section: Section, most: Int = .max,
        where isValid: (inout ManifestReader, String, ManifestPath) -> Bool = { _, _, _ in true },
        reading read: (inout ManifestReader, Section, String) -> Value?
    ) -> [String: Value] {
        guard let section = dictionary(key, in: section, most: most) else { return [:] }
        var entries: [String: Value] = [:]
        for name in section.values.keys.sorted() where isValid(&self, name, section.path / name) {
            if let own = dictionary(name, in: section) { entries[name] = read(&self, own, name) }
        }
        return entries
    }

    /// Reads a dictionary of managers' names; the condition for its keys reports the keys that do not meet it.
    mutating func names(
        _ key: String, in section: Section,
        where isValid: (inout ManifestReader, String, ManifestPath) -> Bool = { _, _, _ in true }
    ) -> [String: String] {
        guard let section = dictionary(key, in: section) else { return [:] }
        var names: [String: String] = [:]
        for key in section.values.keys.sorted() where isValid(&self, key, section.path / key) {
            names[key] = requiredString(key, in: section)
        }
        return names
    }

    mutating func requiredString(_ key: String, in section: Section) -> String? {
        if section.values[key] == nil { report(.manifestMissingKey, "`\(key)` is missing", at: section.path / key) }
        return string(key, in: section)
    }

    /// Reads a string that is one of several values.
    mutating func choice<Value: RawRepresentable<String>>(_ key: String, of values: [Value], in section: Section)
        -> Value?
    {
        guard let text = string(key, in: section) else { return nil }
        if let value = values.first(where: { $0.rawValue == text }) { return value }
        let (path, choice) = (section.path / key, values.map { "`\($0.rawValue)`" }.joined(separator: " or "))
        report(.manifestWrongType, "expected \(choice), found `\(shown(text, at: path))`", at: path)
        return nil
    }

    /// Reads a whole number of bytes that may be missing.
    mutating func bytes(_ key: String, in range: ClosedRange<Int64>, in section: Section) -> Int? {
        guard let value = section.values[key] else { return nil }
        if case .integer(let number) = value, range.contains(number) { return Int(number) }
        let path = section.path / key
        let found =
            switch value {
            case .integer(let number): "\(number)"
            case .number(let number): "\(number)"
            case .string(let text): "`\(shown(text, at: path))`"
            default: value.kind
            }
        let words = "expected a number of bytes from \(range.lowerBound) to \(range.upperBound), found \(found)"
        report(.manifestWrongType, words, at: path)
        return nil
    }

    /// Reads a whole number that may be missing.
    mutating func count(_ key: String, in range: ClosedRange<Int64>, in section: Section) -> Int? {
        guard let value = section.values[key] else { return nil }
        guard case .integer(let number) = value else {
            return wrongType(value, expected: "an integer", at: section.path / key)
        }
        guard range.contains(number) else {
            let words = "expected a number from \(range.lowerBound) to \(range.upperBound), found \(number)"
            report(.manifestWrongType, words, at: section.path / key)
            return nil
        }
        return Int(number)
    }

    /// Reads a number of seconds, above 0 and up to a day, that may be missing.
    mutating func seconds(_ key: String, in section: Section) -> Duration? {
        number(key, "a number of seconds", upTo: 86_400, in: section).map { .seconds($0) }
    }

    /// Reads a number from 0.001 on that may be missing.
    mutating func number(_ key: String, _ noun: String, upTo most: Int, in section: Section) -> Double? {
        guard let value = section.values[key] else { return nil }
        let number: Double
        switch value {
        case .integer(let whole): number = Double(whole)
        case .number(let any): number = any
        default: return wrongType(value, expected: noun, at: section.path / key)
        }
        if number >= 0.001, number <= Double(most) { return number }
        report(.manifestWrongType, "expected \(noun) from 0.001 to \(most), found \(number)", at: section.path / key)
        return nil
    }

    mutating func boolean(_ key: String, in section: Section) -> Bool? {
        guard let value = section.values[key] else { return nil }
        if case .bool(let flag) = value { return flag }
        return wrongType(value, expected: "a boolean", at: section.path / key)
    }

    mutating func versionRange(in section: Section) -> VersionRange? {
        guard let text = string("version", in: section) else { return nil }
        do {
            return try VersionRange(text)
        } catch {
            let path = section.path / "version"
            let words = spellings[path].map {
                "`\($0)` is not a version range; write an interval such as `[1.2,2.0)`"
            }
            report(.versionMalformed, words ?? error.message, at: path)
            return nil
        }
    }

    /// Returns the section with only the keys that its shape has in this manifest.
    func known(_ shape: ManifestShape, of section: Section) -> Section {
        let keys = shape.known(isNemoLogic: isNemoLogic)
        return Section(values: section.values.filter { keys.contains($0.key) }, path: section.path)
    }

    mutating func reportUnknownKeys(
        in section: Section, known: ManifestShape, severity: Problem.Severity = .warning
    ) {
        let keys = known.known(isNemoLogic: isNemoLogic).sorted()
        for key in section.values.keys.sorted() where !keys.contains(key) {
            guard !isNemoLogic || !known.own.contains(key) else {
                let words = "`\(key)` is ignored in a manifest without `manifestVersion`"
                report(.manifestUnknownKey, words, at: section.path / key, severity: severity)
                continue
            }
            let suggestions = NameSuggestions(for: key, among: keys)
            // Without the intended class name, the manager would have the class of its own name.
            let isClass = suggestions.nearest == "className" && section.values["className"] == nil
            report(
                .manifestUnknownKey,
                "unknown key `\(key)`; \(suggestions.question ?? "known here: \(NameSuggestions.list(keys))")",
                at: section.path / key, severity: isClass ? .error : severity,
                intended: suggestions.nearest.map { section.path / $0 })
        }
    }

    mutating func wrongType<Value>(_ value: ManifestValue, expected: String, at path: ManifestPath) -> Value? {
        report(.manifestWrongType, "expected \(expected), found \(value.kind)", at: path)
        return nil
    }
}

extension ManifestReader {
    /// Reads the lock as far as it is readable, without expanding variables, because a program writes it.
    ///
    /// - Returns: Whether its contents are known; if they are not, nothing may run.
    private mutating func readLock(of root: Section, into manifest: inout Manifest) -> Bool {
        guard !ignoresLock, root.values["lock"] != nil else { return true }
        guard let section = dictionary("lock", in: root) else { return false }
        // Errors in an entry are attributed to its manager.
        let owners = Dictionary(manifest.managers.keys.map { ($0.pointerStep, $0) }) { first, _ in first }
        var lock: [String: LockedClass] = [:]
        for key in section.values.keys.sorted() {
            let entry = reading(owners[key.firstStep]) { $0.lockedClass(key, in: section) }
            if let entry { lock[key] = entry }
        }
        manifest.lock = lock
        return true
    }

    private mutating func lockedClass(_ key: String, in section: Section) -> LockedClass? {
        guard let entry = dictionary(key, in: section) else { return nil }
        let plugin = requiredString("plugin", in: entry), version = version(in: entry)
        reportUnknownKeys(in: entry, known: .lockedClass)
        guard let plugin, let version else { return nil }
        return LockedClass(plugin: plugin, version: version)
    }

    private mutating func version(in entry: Section) -> Version? {
        guard let text = requiredString("version", in: entry) else { return nil }
        if let version = Version(text) { return version }
        report(
            .versionMalformed, "`\(text)` is not a version; write numbers with dots, such as 1.2.0",
            at: entry.path / "version")
        return nil
    }
}
