import BackplaneTerminal

/// A file with a plugin in it that adds its component classes, and room for more of them.
struct RegistrationText: Sendable {
    private let source: SwiftText
    /// The plugin's type.
    let plugin: String
    /// Its one `register(in:)`; `nil`: there is none with a body here, or several.
    private let function: Function?

    private struct Function {
        /// What it calls its parameter.
        var registrar: String
        /// The brackets of its body.
        var open, close: Int
    }

    /// - Returns: `nil` where there is not just one type that says it is a plugin.
    init?(_ text: String) {
        source = SwiftText(text)
        let code = String(decoding: source.code, as: UTF8.self)
        let types = code.matches(of: /\b(?:struct|enum|class)\s+(\w+)\s*:[^{]*\bPlugin\b/)
        let functions = Self.functions(in: source)
        guard types.count == 1 else { return nil }
        plugin = String(types[0].output.1)
        function = functions.count == 1 ? functions[0] : nil
    }

    private static func functions(in source: SwiftText) -> [Function] {
        source.places(of: "register").compactMap { place in
            let bracket = source.skippingSpace(from: place + "register".utf8.count)
            guard bracket < source.code.count, source.code[bracket] == UInt8(ascii: "("), let end = source.end(ofBracketAt: bracket) else { return nil }
            let parameters = source.text(source.trimmed((bracket + 1)..<end))
            guard let match = parameters.wholeMatch(of: /in\s+(\w+)\s*:\s*inout\s+(?:Backplane\s*\.\s*)?Registrar/) else { return nil }
            let open = source.skippingSpace(from: end + 1)
            guard open < source.code.count, source.code[open] == UInt8(ascii: "{"), let close = source.end(ofBracketAt: open) else { return nil }
            return Function(registrar: String(match.output.1), open: open, close: close)
        }
    }

    /// The lines that add classes.
    func lines(adding classes: [String]) -> [String] { classes.map { "\(function?.registrar ?? "registrar").add(\($0).self)" } }

    /// The whole file with more classes at the end of `register(in:)`; `nil`: it has to be done by hand.
    func adding(_ classes: [String]) -> String? {
        guard let function else { return nil }
        let body = (function.open + 1)..<function.close, contents = source.contents(of: body), lineEnd = source.lineEnd
        let outer = source.indent(at: function.open), statement = source.trimmed(body)
        let inner = !statement.isEmpty && source.beginsLine(statement.lowerBound) ? source.indent(at: statement.lowerBound) : outer + source.step
        let added = lines(adding: classes).map { lineEnd + inner + $0 }.joined()
        let end = max(function.open + 1, contents.upperBound)
        // A body on one line gets lines of its own; any other stays as it is, comments after its last statement too.
        var edits: [SwiftEdit] = []
        if !statement.isEmpty, source.isOnOneLine(body) { edits.append(SwiftEdit(body.lowerBound..<contents.lowerBound, lineEnd + inner)) }
        if source.isOnOneLine(end..<function.close) {
            edits.append(SwiftEdit(end..<function.close, added + lineEnd + outer))
        } else {
            edits.append(SwiftEdit(at: end, added))
        }
        return source.applying(edits)
    }
}
