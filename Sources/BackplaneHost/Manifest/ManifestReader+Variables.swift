internal import Backplane
internal import BackplaneDocuments
internal import BackplaneNetwork

extension ManifestReader {
    /// Returns a value with the variables in its strings expanded.
    ///
    /// Failures are reported, and the affected strings are not examined further.
    mutating func expanding(_ value: ManifestValue, at path: ManifestPath) -> ManifestValue {
        guard dialect == .backplane, value.needsVariables else { return value }
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
            let words = try VariableText(text)
            let (expanded, unset) = words.expanded(upTo: max(0, variableBytesLeft), variables)
            for name in unset {
                report(
                    .manifestUnsetVariable, "the variable `\(name)` is not set; set it, or write `${\(name):-default}`",
                    at: path)
            }
            let hadRoom = variableBytesLeft >= 0
            variableBytesLeft -= expanded.utf8.count
            if hadRoom, variableBytesLeft < 0 {
                report(
                    .manifestUnsupported,
                    "with its variables expanded, the manifest is larger than \(DocumentLimits.bytes >> 20) MB",
                    at: path)
            }
            guard unset.isEmpty, variableBytesLeft >= 0 else {
                unusable.insert(path)
                return text
            }
            if words.hasVariables { spellings[path] = text }
            return expanded
        } catch {
            report(error.code, error.message, at: path)
            unusable.insert(path)
            return text
        }
    }

    /// Returns a string as a message may show it: with variables as written, because their values may be secret.
    func shown(_ text: String, at path: ManifestPath) -> String {
        guard let spelling = spellings[path], Redaction.variables.hides(text) else { return text }
        return spelling
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
