package import FoundationEssentials

/// An edit of a JSON text that leaves everything else as it is written.
package enum JSONEdit {
    /// Returns the text with the value of a key replaced, or with a new last member in the style of the text.
    package static func set(
        _ value: DocumentValue, _ order: some MemberOrder, forKey key: String, in object: DocumentPath, of text: Data
    ) -> Data? {
        let member = key.json + Array(": ".utf8) + value.readableJSON(order)
        return put(member, at: (object / key).description, in: object, of: text)
    }

    /// Returns the text with a value after the last element of an array, in the style of the text.
    package static func append(
        _ value: DocumentValue, _ order: some MemberOrder, to array: DocumentPath, of text: Data
    ) -> Data? {
        put(value.readableJSON(order), at: nil, in: array, of: text)
    }

    private static func put(_ element: [UInt8], at path: String?, in container: DocumentPath, of text: Data) -> Data? {
        let container = container.description, mark = text.prefix(text.count - text.withoutByteOrderMark.count)
        var bytes = Array(text.dropFirst(mark.count)), tree = JSONTree(text, as: .document, wanted: [container])
        guard (try? tree.document()) != nil, let whole = tree.extents[container] else { return nil }
        let newline = text.firstRange(of: Data("\r\n".utf8)) == nil ? "\n" : "\r\n"
        let inner = tree.extents.filter { $0.key.utf8.starts(with: (container + "/").utf8) }
        let last = inner.values.max { $0.upperBound < $1.upperBound }
        let place: Range<Int>, indent: String
        var before = "", after = ""
        if let old = path.flatMap({ tree.extents[$0] }) {
            place = old
            indent = bytes.indentOfLine(at: old.lowerBound)
        } else if let last {
            let ownLine = bytes.indent(before: last.lowerBound)
            place = last.upperBound..<last.upperBound
            indent = ownLine ?? bytes.indentOfLine(at: last.upperBound)
            before = "," + (ownLine.map { newline + $0 } ?? " ")
        } else {
            let close = whole.upperBound - 1, open = bytes[..<close].lastIndex { !$0.isSpace } ?? close
            let outer = bytes.indentOfLine(at: close)
            place = (open + 1)..<close
            indent = outer + bytes.step
            (before, after) = (newline + indent, newline + outer)
        }
        let lines = Array(before.utf8) + element.indented(by: indent, bytes.step, newline) + Array(after.utf8)
        bytes.replaceSubrange(place, with: lines)
        return mark + bytes
    }
}

extension [UInt8] {
    /// Returns the indentation of an element that begins its line; `nil` if other text precedes it.
    fileprivate func indent(before offset: Int) -> String? {
        let line = self[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let indent = indentOfLine(at: offset)
        return line > 0 && line + indent.utf8.count == offset ? indent : nil
    }

    fileprivate func indentOfLine(at offset: Int) -> String {
        let start = self[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return String(
            decoding: self[start...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }, as: UTF8.self)
    }

    /// The indentation of one level: a tab or some spaces, as on the first indented line.
    fileprivate var step: String {
        for start in indices where self[start] == UInt8(ascii: "\n") {
            let space = indentOfLine(at: start + 1)
            if space.hasPrefix("\t") { return "\t" }
            if !space.isEmpty { return space }
        }
        return "  "
    }

    /// Returns the lines with `indent` before all but the first, and each level of two spaces replaced by `step`.
    fileprivate func indented(by indent: String, _ step: String, _ newline: String) -> [UInt8] {
        let lines = split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            let levels = line.prefix { $0 == UInt8(ascii: " ") }.count / 2
            return Array(String(repeating: step, count: levels).utf8) + line.dropFirst(levels * 2)
        }
        return Array(lines.joined(separator: Array((newline + indent).utf8)))
    }
}
