import Backplane
import BackplaneDocuments
import BackplaneNetwork

extension ManifestReader {
    /// Returns the root merged with the chosen environment; `nil` if it is unknown or invalid.
    ///
    /// Only the keys of other environments are read (``ManifestDocument/rehearsal``).
    mutating func choosingEnvironment(in root: Section) -> Section? {
        let environments = dictionary("environments", in: root)
        var chosen: Section?
        for name in environments?.values.keys.sorted() ?? [] {
            guard let environments, let overlay = overlay(name, in: environments) else { continue }
            if name == environment { chosen = overlay }
        }
        if let count = environments?.values.count, count > ManifestLimits.environments {
            let words = "expected at most \(ManifestLimits.environments) environments, found \(count)"
            report(.manifestUnsupported, words, at: root.path / "environments")
        }
        guard let environment else { return root }
        guard let environments, environments.values[environment] != nil else {
            report(unknownEnvironment(environment, among: environments?.values.keys.sorted() ?? []))
            return nil
        }
        return chosen.map { overlay in
            let patch = overlay.values.filter { ManifestShape.environment.keys.contains($0.key) }
            let merged = ManifestValue.dictionary(root.values).merging(
                .dictionary(patch), writtenAt: overlay.path, &origins)
            guard case .dictionary(let values) = merged else { return root }
            return Section(values: values, path: root.path)
        }
    }

    func unknownEnvironment(_ name: String, among names: [String]) -> BackplaneError {
        let suggestions = NameSuggestions(for: name, among: names)
        let hint = suggestions.question ?? (names.isEmpty ? "the manifest has none" : "there are \(suggestions.list)")
        return BackplaneError(
            .manifestUnknownEnvironment, "no environment is named `\(name)`; \(hint)",
            at: (ManifestPath() / "environments").description)
    }

    /// Returns an environment if it can be merged; the contents of the chosen one are read with the merged manifest.
    private mutating func overlay(_ name: String, in environments: Section) -> Section? {
        let before = (errorCount, warningCount)
        guard let overlay = dictionary(name, in: environments) else { return nil }
        var others = overlay
        for key in ManifestShape.root.keys
        where !ManifestShape.environment.keys.contains(key) && others.values.removeValue(forKey: key) != nil {
            let words =
                "an environment cannot change `\(key)`; it can contain \(NameSuggestions.list(ManifestShape.environment.keys))"
            report(.manifestUnsupported, words, at: overlay.path / key)
        }
        let isSound = (errorCount, warningCount) == before
        reportUnknownKeys(in: others, known: .environment)
        return isSound ? overlay : nil
    }
}

extension ManifestDocument {
    /// Warnings of the errors that environments would cause if they were chosen, except for errors of their variables.
    ///
    /// The manifest is read once for each environment, so only checks use this property.
    var rehearsal: [Problem] {
        guard case .dictionary(let root)? = content, case .dictionary(let environments)? = root["environments"],
            environments.count <= ManifestLimits.environments
        else { return [] }
        var found = ManifestReader(environment: nil) { _ in nil }
        let known = Set(problems.compactMap(\.error.location))
        for name in environments.keys.sorted() where name != environment {
            found.rehearse(name, in: .dictionary(root), besides: known)
        }
        return positioning(found.summary)
    }
}

extension ManifestReader {
    fileprivate mutating func rehearse(_ name: String, in root: ManifestValue, besides known: Set<String>) {
        var other = ManifestReader(environment: name) { _ in "x" }
        other.ignoresLock = true
        _ = other.read(root)
        let path = (ManifestPath() / "environments" / name).description + "/"
        let known = known.union(other.spellings.keys.compactMap { other.origins.place(of: $0.description) })
        for problem in other.attributed
        where !problem.isConsequence
            && problem.error.location.map({ $0.hasPrefix(path) && !known.contains($0) }) ?? false
        {
            var error = problem.error
            error.message = "in an environment that is not in use: \(error.message)"
            report(error, severity: .warning)
        }
    }
}

extension ManifestValue {
    /// Returns the value merged with a patch, as defined by JSON Merge Patch (RFC 7396).
    ///
    /// Dictionaries are merged, null removes a member, and any other value, including an array, replaces the existing
    /// value.
    ///
    /// - Parameters:
    ///   - place: The location at which the patch is written.
    ///   - origins: The locations of values that the patch adds or removes, which this method updates.
    func merging(_ patch: ManifestValue, writtenAt place: ManifestPath, _ origins: inout ManifestOrigins)
        -> ManifestValue
    {
        guard case .dictionary(let changes) = patch, case .dictionary(var members) = self else {
            origins = ManifestOrigins(place)
            return patch.withoutNullMembers
        }
        for (key, change) in changes {
            if change == .null {
                members.removeValue(forKey: key)
                origins[key] = ManifestOrigins(place / key)
            } else if let member = members[key] {
                members[key] = member.merging(change, writtenAt: place / key, &origins[key])
            } else {
                members[key] = change.withoutNullMembers
                origins[key] = ManifestOrigins(place / key)
            }
        }
        return .dictionary(members)
    }

    private var withoutNullMembers: ManifestValue {
        guard case .dictionary(let members) = self else { return self }
        return .dictionary(members.filter { $0.value != .null }.mapValues(\.withoutNullMembers))
    }
}

extension ManifestReader {
    /// Returns a value with the variables in its strings expanded.
    ///
    /// Failures are reported, and the affected strings are not examined further.
    mutating func expanding(_ value: ManifestValue, at path: ManifestPath) -> ManifestValue {
        guard !isNemoLogic, value.needsVariables else { return value }
        switch value {
        case .string(let text): return .string(expanding(text, at: path))
        case .array(let values):
            var expanded: [ManifestValue] = []
            for (index, value) in values.enumerated() { expanded.append(expanding(value, at: path / index)) }
            return .array(expanded)
        case .dictionary(var members):
            for key in members.keys.sorted() { members[key] = expanding(members[key]!, at: path / key) }
            return .dictionary(members)
        default: return value
        }
    }

    private mutating func expanding(_ text: String, at path: ManifestPath) -> String {
        do {
            let expanded = try VariableText(text, upTo: max(0, variableBytesLeft), variables)
            for name in expanded.unset {
                report(
                    .manifestUnsetVariable, "the variable `\(name)` is not set; set it, or write `${\(name):-default}`",
                    at: path)
            }
            let hadRoom = variableBytesLeft >= 0
            variableBytesLeft -= expanded.text.utf8.count
            if hadRoom, variableBytesLeft < 0 {
                report(
                    .manifestUnsupported,
                    "with its variables expanded, the manifest is larger than \(DocumentLimits.bytes >> 20) MB",
                    at: path)
            }
            guard expanded.unset.isEmpty, variableBytesLeft >= 0 else {
                unusable.insert(path)
                return text
            }
            if expanded.hasVariables { spellings[path] = text }
            return expanded.text
        } catch {
            report(error.code, error.message, at: path)
            unusable.insert(path)
            return text
        }
    }

    /// Returns a string as a message may show it: with variables as written, because their values may be secret.
    func shown(_ text: String, at path: ManifestPath) -> String {
        spellings[path] ?? text
    }
}

extension ManifestValue {
    fileprivate var needsVariables: Bool {
        switch self {
        case .string(let text): VariableText.isNeeded(for: text)
        case .array(let values): values.contains(where: \.needsVariables)
        case .dictionary(let members): members.values.contains(where: \.needsVariables)
        default: false
        }
    }
}

/// A string with its variables expanded.
///
/// `${NAME}` and `${NAME:-default}` stand for values, and `$${` stands for a literal `${`. Values are not expanded
/// again.
struct VariableText {
    private(set) var text = ""
    /// The names of the variables without a value.
    private(set) var unset: [String] = []
    private var unsetNames: Set<String> = []
    private(set) var hasVariables = false

    /// Returns whether a string contains `${` and may therefore differ from its expansion.
    static func isNeeded(for text: String) -> Bool {
        var last: UInt8 = 0
        return text.utf8.contains { byte in
            defer { last = byte }
            return last == UInt8(ascii: "$") && byte == UInt8(ascii: "{")
        }
    }

    /// Expands the variables of a string.
    ///
    /// - Parameter limit: The number of bytes after which the values of variables are left out.
    /// - Throws: `manifest.malformed-variable`.
    init(_ written: String, upTo limit: Int, _ value: (String) -> String?) throws(BackplaneError) {
        var rest = Substring(written).unicodeScalars
        while let dollar = rest.firstIndex(of: "$") {
            text += String(rest[..<dollar])
            let dollars = rest[dollar...].prefix { $0 == "$" }
            rest = rest[dollars.endIndex...]
            guard rest.first == "{" else {
                text += String(dollars)
                continue
            }
            text += String(repeating: "$", count: dollars.count / 2)
            if dollars.count.isMultiple(of: 2) { continue }
            guard let end = rest.firstIndex(of: "}") else { throw Self.malformed("`${` without a closing `}`") }
            let isFull = text.utf8.count > limit
            try expand(Substring(rest[..<end].dropFirst())) { isFull ? "" : value($0) }
            rest = rest[end...].dropFirst()
        }
        text += String(rest)
    }

    /// Appends the value of the variable that the text between the braces describes.
    private mutating func expand(_ words: Substring, _ value: (String) -> String?) throws(BackplaneError) {
        let name = String(words.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
        let rest = words.dropFirst(name.count)
        guard let first = name.first, !first.isNumber, rest.isEmpty || rest.hasPrefix(":-") else {
            throw Self.malformed("`${\(words.prefix(40))}` names no variable")
        }
        let fallback = rest.isEmpty ? nil : String(rest.unicodeScalars.dropFirst(2))
        if let fallback, Self.isNeeded(for: fallback) {
            throw Self.malformed("the default of `\(name)` refers to a variable, which is not allowed")
        }
        hasVariables = true
        let value = value(name)
        if let fallback, value ?? "" == "" {
            text += fallback
        } else if let value {
            text += value
        } else if unsetNames.insert(name).inserted {
            unset.append(name)
        }
    }

    private static func malformed(_ reason: String) -> BackplaneError {
        BackplaneError(
            .manifestMalformedVariable, "\(reason); write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself")
    }

    /// Returns the spelling of a string without variables, in which the dollar signs before a brace are doubled.
    static func spelling(of text: String) -> String {
        guard isNeeded(for: text) else { return text }
        var spelled = "", dollars = 0
        for scalar in text.unicodeScalars {
            if scalar == "{" { spelled += String(repeating: "$", count: dollars) }
            dollars = scalar == "$" ? dollars + 1 : 0
            spelled.unicodeScalars.append(scalar)
        }
        return spelled
    }
}
