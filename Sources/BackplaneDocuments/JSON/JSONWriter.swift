package import FoundationEssentials

/// A writer of human-readable JSON, with two spaces per level and short flat values on one line.
package struct JSONWriter {
    private var bytes: [UInt8] = []
    private var path = DocumentPath()
    private var indent = ""

    /// The maximum length of a value that is written on one line, in bytes.
    private static let lineLength = 80

    package static func write(_ value: DocumentValue, _ order: some MemberOrder) throws(DocumentError) -> Data {
        var writer = Self()
        try writer.write(value, order)
        return Data(writer.bytes + [UInt8(ascii: "\n")])
    }

    private mutating func write(_ value: DocumentValue, _ order: some MemberOrder) throws(DocumentError) {
        switch value {
        case .number(let number) where !number.isFinite:
            throw DocumentError(unwritable: "JSON cannot represent the number \(number)", at: path)
        case .array(let values) where !values.isEmpty:
            let outer = path, isFlat = value.isFlat
            try block("[", "]", isFlat, values.enumerated()) { writer, element throws(DocumentError) in
                writer.path = outer / element.offset
                try writer.write(element.element, order.elements)
            }
            path = outer
        case .dictionary(let members) where !members.isEmpty:
            let outer = path, isFlat = value.isFlat
            try block("{", "}", isFlat, order.ordered(members)) { writer, member throws(DocumentError) in
                writer.path = outer / member.key
                writer.bytes += member.key.json + [UInt8(ascii: ":"), UInt8(ascii: " ")]
                try writer.write(member.value, order.member(member.key))
            }
            path = outer
        default: bytes += value.json
        }
    }

    /// Writes members between two brackets: one per line, or all on one line if that is short enough.
    private mutating func block<Members: Sequence>(
        _ open: String, _ close: String, _ isFlat: Bool, _ members: Members,
        _ write: (inout Self, Members.Element) throws(DocumentError) -> Void
    ) throws(DocumentError) {
        if isFlat {
            var line = Self()
            (line.path, line.bytes) = (path, Array((open + (open == "{" ? " " : "")).utf8))
            for (index, member) in members.enumerated() {
                if index > 0 { line.bytes += ", ".utf8 }
                try write(&line, member)
            }
            line.bytes += ((open == "{" ? " " : "") + close).utf8
            if line.bytes.count <= Self.lineLength {
                bytes += line.bytes
                return
            }
        }
        let outer = indent
        indent += "  "
        bytes += open.utf8
        for (index, member) in members.enumerated() {
            bytes += ((index > 0 ? ",\n" : "\n") + indent).utf8
            try write(&self, member)
        }
        indent = outer
        bytes += ("\n" + indent + close).utf8
    }
}

extension DocumentValue {
    /// A Boolean value that indicates whether all elements of the value are scalars or empty.
    fileprivate var isFlat: Bool {
        switch self {
        case .array(let values): values.allSatisfy(\.isScalar)
        case .dictionary(let members): members.values.allSatisfy(\.isScalar)
        default: true
        }
    }

    private var isScalar: Bool {
        switch self {
        case .array(let values): values.isEmpty
        case .dictionary(let members): members.isEmpty
        default: true
        }
    }
}
