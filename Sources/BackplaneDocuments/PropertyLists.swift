import FoundationEssentials

/// The reading of XML property lists and the writing of binary ones by Foundation.
enum PropertyList {
    /// Reads an XML property list.
    ///
    /// - Throws: ``DocumentError`` with the path of the value instead of a line and a column.
    static func read(xml data: Data, as subject: DocumentSubject) throws(DocumentError) -> DocumentValue {
        var scan = XMLScan(Array(data.withoutByteOrderMark), as: subject)
        try scan.document()
        do {
            return try PropertyListDecoder().decode(DocumentValue.self, from: Data(scan.bytes))
        } catch DecodingError.dataCorrupted(let context) {
            let details = (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String
            throw DocumentError(.malformed, details ?? context.debugDescription, location: DocumentPath(context))
        } catch DecodingError.typeMismatch(_, let context) {
            let reason = "the text of this element is not a valid number, date or data"
            throw DocumentError(.malformed, reason, location: DocumentPath(context))
        } catch {
            throw DocumentError(.malformed, "this is not a valid property list")
        }
    }

    /// Returns the value as a binary property list with sorted keys.
    ///
    /// - Throws: ``DocumentError`` for a value other than an array or a dictionary.
    static func binary(_ value: DocumentValue) throws(DocumentError) -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        do { return try encoder.encode(value) } catch {
            throw DocumentError(.unsupported, "a property list cannot consist of \(value.kind) alone")
        }
    }
}

/// A writer of XML property lists, indented with tabs, which keeps the order of members.
struct XMLWriter {
    private var text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    static func write(_ value: DocumentValue, _ order: some MemberOrder) -> Data {
        var writer = Self()
        writer.write(value, order, "")
        return Data((writer.text + "</plist>\n").utf8)
    }

    private mutating func write(_ value: DocumentValue, _ order: some MemberOrder, _ indent: String) {
        func line(_ line: String) { text += "\(indent)\(line)\n" }
        switch value {
        case .null: break  // refused before
        case .bool(let value): line(value ? "<true/>" : "<false/>")
        case .integer(let value): line("<integer>\(value)</integer>")
        case .number(let value): line("<real>\(value)</real>")
        case .string(let value): line("<string>\(Self.escaped(value))</string>")
        case .data(let value): line("<data>\(value.base64EncodedString())</data>")
        case .date(let value): line("<date>\(value.formatted(.iso8601))</date>")
        case .array(let values):
            if values.isEmpty { return line("<array/>") }
            line("<array>")
            for value in values { write(value, order.elements, indent + "\t") }
            line("</array>")
        case .dictionary(let members):
            if members.isEmpty { return line("<dict/>") }
            line("<dict>")
            for (key, value) in order.ordered(members) {
                line("\t<key>\(Self.escaped(key))</key>")
                write(value, order.member(key), indent + "\t")
            }
            line("</dict>")
        }
    }

    private static func escaped(_ text: String) -> String {
        // An XML parser would convert a carriage return to a line feed.
        text.replacing(["&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"])
    }

    /// Returns the reason why XML cannot represent a text; `nil` if it can.
    static func problem(_ text: String) -> String? {
        if text == "$null" { return "an XML property list cannot represent the text `\(text)`; JSON can" }
        let forbidden = text.unicodeScalars.first { scalar in
            scalar < " " && !["\t", "\n", "\r"].contains(scalar) || scalar == "\u{FFFE}" || scalar == "\u{FFFF}"
        }
        return forbidden.map { scalar in
            let code = String(scalar.value, radix: 16, uppercase: true)
            return "XML cannot represent the character U+\(code); a binary property list or JSON can"
        }
    }

    /// Returns the reason why XML cannot represent a date; `nil` if it can.
    ///
    /// XML has four digits for the year, and no fractions of a second.
    static func problem(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate, years = -63_113_904_000.0..<252_423_993_600.0
        if years.contains(seconds), seconds == seconds.rounded() { return nil }
        return "an XML property list can represent only whole seconds in the years 1 to 9999; a binary one can "
            + "represent any date"
    }
}

extension DocumentPath {
    fileprivate init(_ context: DecodingError.Context) {
        self = context.codingPath.reduce(DocumentPath()) { $0 / ($1.intValue.map(String.init) ?? $1.stringValue) }
    }
}

/// A scan of an XML property list for problems that Foundation's reader does not report.
///
/// Foundation's reader overflows the stack on deep nesting, and keeps one of several members with the same key.
private struct XMLScan {
    /// An incomplete array or dictionary, or the incomplete root.
    private struct Container {
        let name: String
        /// The step from the container to the current value in it.
        var step = ""
        var count = 0
        var keys: Set<String> = []
    }

    let bytes: [UInt8]
    private let subject: DocumentSubject
    private var index = 0
    private var open: [Container] = []
    private var values = 0

    init(_ bytes: [UInt8], as subject: DocumentSubject) { (self.bytes, self.subject) = (bytes, subject) }

    mutating func document() throws(DocumentError) {
        let isUTF8 = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains(0)
        let declared = String(decoding: bytes.prefix(1_024), as: UTF8.self)
            .prefixMatch(of: /<\?xml[^>]*encoding\s*=\s*["']([^"'>]*)/)?.output.1
        if !isUTF8 || !["utf-8", "utf8", "us-ascii", "ascii"].contains(declared?.lowercased() ?? "utf-8") {
            let found = declared.map { "`\($0.prefix(64))`" } ?? "another one"
            throw error(.unsupported, "expected the encoding UTF-8, found \(found); save the file as UTF-8")
        }
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            index = start
            if try !skipSection() { try tag() }
        }
        if !bytes[index...].allSatisfy(\.isSpace) { throw error(.malformed, "text after the end of the property list") }
    }

    /// Skips a comment, a section of text or a processing instruction, and returns whether one is at the index.
    private mutating func skipSection() throws(DocumentError) -> Bool {
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
        where bytes[index...].starts(with: start.utf8) {
            guard let place = bytes[index...].dropFirst(start.utf8.count).firstRange(of: Array(end.utf8)) else {
                throw error(.malformed, "expected `\(end)` after `\(start)`, found the end of the file")
            }
            index = place.upperBound
            return true
        }
        return false
    }

    private mutating func tag() throws(DocumentError) {
        let start = index + 1
        guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) else {
            throw error(.malformed, "expected `>` after `<`, found the end of the file")
        }
        index = end + 1
        let tag = bytes[start..<end], slash = UInt8(ascii: "/")
        if tag.first == UInt8(ascii: "!") {
            guard tag.contains(UInt8(ascii: "[")) else { return }
            throw error(.unsupported, "the document type contains declarations, which a property list cannot have")
        }
        let name = String(decoding: tag.drop { $0 == slash }.prefix { !$0.isSpace && $0 != slash }, as: UTF8.self)
        let isContainer = ["array", "dict", "plist"].contains(name)
        if tag.first == slash {
            if isContainer { _ = open.popLast() }
        } else {
            if name == "key" { try key() } else if name != "plist" { try value() }
            if isContainer, tag.last != slash { open.append(Container(name: name)) }
            if open.count - (open.first?.name == "plist" ? 1 : 0) > DocumentLimits.depth {
                throw error(.unsupported, DocumentLimits.tooDeep())
            }
        }
    }

    private mutating func value() throws(DocumentError) {
        values += 1
        if values > DocumentLimits.values { throw error(.unsupported, subject.tooManyValues) }
        guard let last = open.indices.last, open[last].name == "array" else { return }
        open[last].step = "\(open[last].count)"
        open[last].count += 1
    }

    private mutating func key() throws(DocumentError) {
        guard let last = open.indices.last else { return }
        let key = String(decoding: bytes[index...].prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self)
        guard key.utf8.count <= DocumentLimits.key else { throw error(.unsupported, DocumentLimits.keyTooLong) }
        open[last].step = key
        let (isNew, other) = open[last].keys.insert(key)
        guard isNew else {
            let clash = key.clash(with: other)
            throw error(clash.kind, clash.reason)
        }
    }

    private func error(_ kind: DocumentError.Kind, _ reason: String) -> DocumentError {
        let path = open.filter { !$0.step.isEmpty }.reduce(DocumentPath()) { $0 / $1.step }
        return DocumentError(kind, reason, location: path)
    }
}
