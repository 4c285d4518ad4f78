internal import FoundationEssentials

/// A writer of XML property lists, indented with tabs.
struct PropertyListWriter {
    private var text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """
    private var indent = ""
    private let subject: DocumentSubject

    private init(_ subject: DocumentSubject) { self.subject = subject }

    static func write(_ value: DocumentValue, _ order: some MemberOrder, _ subject: DocumentSubject)
        throws(DocumentError) -> Data
    {
        var writer = Self(subject)
        try writer.write(value, order, at: DocumentPath())
        return Data((writer.text + "</plist>\n").utf8)
    }

    private mutating func write(_ value: DocumentValue, _ order: some MemberOrder, at path: DocumentPath)
        throws(DocumentError)
    {
        switch value {
        case .null: throw DocumentError(unwritable: PropertyListWriter.noNull(subject), at: path)
        case .bool(let value): line(value ? "<true/>" : "<false/>")
        case .integer(let value): line("<integer>\(value)</integer>")
        case .number(let value): line("<real>\(value)</real>")
        case .string(let value): line("<string>\(try escaped(value, at: path))</string>")
        case .data(let value): line("<data>\(value.base64EncodedString())</data>")
        case .date(let value): line("<date>\(try Self.seconds(value, at: path))</date>")
        case .array(let values):
            if values.isEmpty { return line("<array/>") }
            line("<array>")
            indent += "\t"
            for (index, value) in values.enumerated() { try write(value, order.elements, at: path / index) }
            indent.removeLast()
            line("</array>")
        case .dictionary(let members):
            if members.isEmpty { return line("<dict/>") }
            line("<dict>")
            indent += "\t"
            for (key, value) in order.ordered(members) {
                line("<key>\(try escaped(key, at: path / key))</key>")
                try write(value, order.member(key), at: path / key)
            }
            indent.removeLast()
            line("</dict>")
        }
    }

    static func noNull(_ subject: DocumentSubject) -> String {
        "a property list cannot represent null; omit the key, or keep the \(subject.noun) in JSON"
    }

    private mutating func line(_ line: String) {
        text += indent + line + "\n"
    }

    private func escaped(_ text: String, at path: DocumentPath) throws(DocumentError) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            // An XML parser would convert it to a line feed.
            case "\r": escaped += "&#13;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case "\0"..<" ", "\u{FFFE}", "\u{FFFF}":
                let code = String(scalar.value, radix: 16, uppercase: true)
                throw DocumentError(
                    unwritable: "XML cannot represent the character U+\(code); a binary property list or JSON can",
                    at: path)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Formats a date, which must be a whole second in the years 1 to 9999, because the format has four digits and no
    /// fractions.
    private static func seconds(_ date: Date, at path: DocumentPath) throws(DocumentError) -> String {
        let seconds = date.timeIntervalSinceReferenceDate, years = -63_113_904_000.0..<252_423_993_600.0
        guard years.contains(seconds), seconds == seconds.rounded() else {
            throw DocumentError(
                unwritable:
                    "an XML property list can represent only whole seconds in the years 1 to 9999; a binary one can "
                    + "represent any date",
                at: path)
        }
        return date.formatted(.iso8601)
    }
}
