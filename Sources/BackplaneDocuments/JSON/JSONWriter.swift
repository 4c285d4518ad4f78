internal import Backplane
internal import FoundationEssentials

/// Writes a manifest as JSON for people: two spaces a level, and on one line what is flat and short.
struct JSONWriter {
    private var bytes: [UInt8] = []
    private var path = ManifestPath()
    private var indent = ""

    /// Up to so many bytes stand on one line.
    private static let lineLength = 80

    static func write(_ value: ManifestValue, _ shape: ManifestShape) throws(BackplaneError) -> Data {
        var writer = Self()
        try writer.write(value, shape)
        return Data(writer.bytes + [UInt8(ascii: "\n")])
    }

    private mutating func write(_ value: ManifestValue, _ shape: ManifestShape) throws(BackplaneError) {
        switch value {
        case .number(let number) where !number.isFinite: throw ManifestValue.unwritable("JSON has no number \(number)", at: path)
        case .array(let values) where !values.isEmpty:
            let outer = path, isFlat = value.isFlat
            try block("[", "]", isFlat, values.enumerated()) { writer, element throws(BackplaneError) in
                writer.path = outer / element.offset
                try writer.write(element.element, shape.elements)
            }
            path = outer
        case .dictionary(let members) where !members.isEmpty:
            let outer = path, isFlat = value.isFlat
            try block("{", "}", isFlat, shape.ordered(members)) { writer, member throws(BackplaneError) in
                writer.path = outer / member.key
                writer.bytes += member.key.json + [UInt8(ascii: ":"), UInt8(ascii: " ")]
                try writer.write(member.value, shape.member(member.key))
            }
            path = outer
        default: bytes += value.json
        }
    }

    /// Members between two brackets: each on a line of its own, or all on one where that is short.
    private mutating func block<Members: Sequence>(
        _ open: String, _ close: String, _ isFlat: Bool, _ members: Members, _ write: (inout Self, Members.Element) throws(BackplaneError) -> Void
    ) throws(BackplaneError) {
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

extension ManifestValue {
    /// Whether nothing in it has anything in it.
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
