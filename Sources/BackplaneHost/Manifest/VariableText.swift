internal import Backplane

/// A string in which `${NAME}` and `${NAME:-default}` stand for the values of variables, and `$${` for a literal `${`.
struct VariableText {
    enum Part: Hashable {
        case text(String)
        /// A variable, with the fallback for one that is not set or empty.
        case variable(String, fallback: String?)
    }

    private(set) var parts: [Part] = []

    /// Returns whether a string contains `${` and may therefore differ from its expansion.
    static func isNeeded(for text: String) -> Bool {
        var last: UInt8 = 0
        return text.utf8.contains { byte in
            defer { last = byte }
            return last == UInt8(ascii: "$") && byte == UInt8(ascii: "{")
        }
    }

    /// Parses the variables of a string.
    ///
    /// - Throws: `manifest.malformed-variable`.
    init(_ text: String) throws(BackplaneError) {
        var rest = Substring(text).unicodeScalars, plain = ""
        while let dollar = rest.firstIndex(of: "$") {
            plain += String(rest[..<dollar])
            let dollars = rest[dollar...].prefix { $0 == "$" }
            rest = rest[dollars.endIndex...]
            guard rest.first == "{" else {
                plain += String(dollars)
                continue
            }
            plain += String(repeating: "$", count: dollars.count / 2)
            if dollars.count.isMultiple(of: 2) { continue }
            guard let end = rest.firstIndex(of: "}") else { throw Self.malformed("`${` without a closing `}`") }
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(try Self.variable(Substring(rest[..<end].dropFirst())))
            rest = rest[end...].dropFirst()
        }
        plain += String(rest)
        if !plain.isEmpty { parts.append(.text(plain)) }
    }

    /// Returns the variable described by the text between the braces.
    private static func variable(_ words: Substring) throws(BackplaneError) -> Part {
        let name = words.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        let rest = words[name.endIndex...]
        guard let first = name.first, !first.isNumber, rest.isEmpty || rest.hasPrefix(":-") else {
            throw malformed("`${\(words.prefix(40))}` names no variable")
        }
        guard !rest.isEmpty else { return .variable(String(name), fallback: nil) }
        let fallback = String(rest.unicodeScalars.dropFirst(2))
        guard !isNeeded(for: fallback) else {
            throw malformed("the default of `\(name)` refers to a variable, which is not allowed")
        }
        return .variable(String(name), fallback: fallback)
    }

    private static func malformed(_ reason: String) -> BackplaneError {
        BackplaneError(
            .manifestMalformedVariable, "\(reason); write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself")
    }

    /// Returns the text with the unexpanded values of its variables, and the names of variables without a value.
    ///
    /// - Parameter limit: The number of bytes after which the rest is left out.
    func expanded(upTo limit: Int, _ value: (String) -> String?) -> (text: String, unset: [String]) {
        var text = "", unset: [String] = [], seen: Set<String> = []
        for part in parts where text.utf8.count <= limit {
            switch part {
            case .text(let plain): text += plain
            case .variable(let name, let fallback):
                let value = value(name)
                if let fallback, value ?? "" == "" {
                    text += fallback
                } else if let value {
                    text += value
                } else if seen.insert(name).inserted {
                    unset.append(name)
                }
            }
        }
        return (text, unset)
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

    var hasVariables: Bool {
        parts.contains { if case .variable = $0 { true } else { false } }
    }
}
