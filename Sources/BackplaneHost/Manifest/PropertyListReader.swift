internal import Backplane
internal import FoundationEssentials

/// Reads XML property lists through the toolchain's own decoder.
enum PropertyListReader {
    static let tooDeep = BackplaneError(.manifestUnsupported, "nested deeper than \(ManifestLimits.depth) levels")

    static func read(_ data: Data) throws(BackplaneError) -> ManifestValue {
        // The decoder's parser recurses without a limit of its own and would exhaust the stack.
        guard nesting(of: data) <= ManifestLimits.depth + 1 else { throw tooDeep }
        do {
            return try PropertyListDecoder().decode(PropertyListValue.self, from: data).value
        } catch DecodingError.dataCorrupted(let context) {
            let words = (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String
            throw BackplaneError(.manifestMalformed, words ?? context.debugDescription)
        } catch {
            throw BackplaneError(.manifestMalformed, String(describing: error))
        }
    }

    /// The most elements that are open at once, the `plist` element included.
    private static func nesting(of data: Data) -> Int {
        var (depth, deepest) = (0, 0)
        var rest = data[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if rest.starts(with: "!--".utf8) {
                rest = rest.after("-->")
            } else if rest.starts(with: "![CDATA[".utf8) {
                rest = rest.after("]]>")
            } else if rest.first == UInt8(ascii: "?") {
                rest = rest.after("?>")
            } else if rest.first == UInt8(ascii: "/") {
                depth = max(0, depth - 1)
            } else if rest.first != UInt8(ascii: "!"), let end = rest.firstIndex(of: UInt8(ascii: ">")) {
                if rest[..<end].last != UInt8(ascii: "/") { depth += 1 }
                deepest = max(deepest, depth)
                rest = rest[end...]
            }
        }
        return deepest
    }
}

/// A value as the decoder hands it out: it has to be asked for one type after the other.
private struct PropertyListValue: Decodable {
    var value: ManifestValue

    init(from decoder: any Decoder) throws {
        // Containers first: every failed question costs an error with the whole path to the value.
        if let container = try? decoder.container(keyedBy: Key.self) {
            var members: [String: ManifestValue] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(Self.self, forKey: key).value
            }
            value = .dictionary(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [ManifestValue] = []
            while !container.isAtEnd {
                elements.append(try container.decode(Self.self).value)
            }
            value = .array(elements)
        } else {
            value = try Self.scalar(decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> ManifestValue {
        if let value = try? container.decode(String.self) { return .string(value) }
        // How Foundation's encoder spells nil, for property lists have none: here it is the text that it is.
        if container.decodeNil() { return .string("$null") }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(Double.self) { return ManifestValue(canonical: value) }
        if let value = try? container.decode(Data.self) { return .data(value) }
        return .date(try container.decode(Date.self))
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension Data {
    /// What follows the first occurrence of a text; nothing if there is none.
    fileprivate func after(_ text: String) -> Data {
        firstRange(of: Data(text.utf8)).map { self[$0.upperBound...] } ?? Data()
    }
}
