import Backplane
import BackplaneDocuments

extension DefinitionReader {
    /// A dictionary and its path.
    struct Section {
        var values: [String: DocumentValue]
        var path: DocumentPath
    }

    mutating func section(_ value: DocumentValue, at path: DocumentPath) -> Section? {
        if case .dictionary(let values) = value { return Section(values: values, path: path) }
        return wrongType(value, expected: "a dictionary", at: path)
    }

    mutating func dictionary(_ key: String, in section: Section) -> Section? {
        section.values[key].flatMap { self.section($0, at: section.path / key) }
    }

    /// Reads an optional string.
    mutating func string(_ key: String, in section: Section) -> String? {
        guard let value = section.values[key] else { return nil }
        guard case .string(let text) = value else {
            return wrongType(value, expected: "a string", at: section.path / key)
        }
        return bounded(text, at: section.path / key) ? text : nil
    }

    /// Reads an optional string that must not be empty.
    mutating func name(_ key: String, in section: Section) -> String? {
        guard let text = string(key, in: section) else { return nil }
        guard text.isEmpty else { return text }
        report(.definitionInvalidValue, "`\(key)` is empty; leave it out", at: section.path / key)
        return nil
    }

    /// Reads an optional Boolean value; old property lists may contain 0 or 1 instead.
    mutating func bool(_ key: String, in section: Section) -> Bool {
        switch section.values[key] {
        case nil: return false
        case .bool(let value): return value
        case .integer(0): return false
        case .integer(1): return true
        case .some(let value): return wrongType(value, expected: "a boolean", at: section.path / key) ?? false
        }
    }

    /// Reads a string with indicators; numbers and Boolean values are read as text.
    mutating func template(_ value: DocumentValue, at path: DocumentPath, isURL: Bool = false) -> Template? {
        switch value {
        case .string(let text): return bounded(text, at: path) ? template(text, at: path, isURL: isURL) : nil
        case .bool(let value): return Template(value ? "true" : "false") { _ in }
        case .integer, .number:
            guard case .number(let digits) = ArgumentValue(value) else { break }
            return Template(digits) { _ in }
        default: break
        }
        return wrongType(value, expected: "a string", at: path)
    }

    mutating func template(_ text: String, at path: DocumentPath, isURL: Bool = false) -> Template {
        var remarks: [Template.Remark] = []
        let template = Template(text, isURL: isURL) { remarks.append($0) }
        for remark in remarks {
            switch remark {
            case .mistake(let words): report(.definitionIndicator, words, at: path)
            case .octet(let octet): octets.append((octet, path))
            case .percent(let found):
                report(
                    .definitionIndicator,
                    "`\(found)` is not an indicator, and is sent unchanged; write `%%` for a percent sign",
                    at: path, severity: .warning)
            }
        }
        for piece in template.pieces {
            if case .indicator(let indicator) = piece { indicators.append((indicator, path)) }
        }
        return template
    }

    mutating func reportUnknownKeys(in section: Section, known: [String]) {
        for key in section.values.keys.sorted() where !known.contains(key) {
            let question = NameSuggestions(for: key, among: known).question
            report(
                .definitionUnknownKey,
                "unknown key `\(key)`; \(question ?? "known here: \(NameSuggestions.list(known))")",
                at: section.path / key, severity: .warning)
        }
    }

    mutating func ignored(_ key: String, in section: Section, _ reason: String) {
        guard section.values[key] != nil else { return }
        report(.definitionIgnored, "`\(key)` has no effect: \(reason)", at: section.path / key, severity: .warning)
    }

    mutating func wrongType<Value>(_ value: DocumentValue, expected: String, at path: DocumentPath) -> Value? {
        report(.definitionWrongType, "expected \(expected), found \(value.kind)", at: path)
        return nil
    }

    private mutating func bounded(_ text: String, at path: DocumentPath) -> Bool {
        guard text.utf8.count > Self.longestText else { return true }
        let words = "expected at most \(Self.longestText) bytes, found \(text.utf8.count)"
        report(.definitionInvalidValue, words, at: path)
        return false
    }
}
