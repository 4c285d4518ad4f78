package import Backplane
import BackplaneDocuments
package import FoundationEssentials

/// A namespace for adding plugins and managers to the text of a manifest.
package enum EntryText {
    /// Returns the bytes with a library appended to the plugins, and managers to the managers, and no other changes.
    ///
    /// - Parameter library: The name of the library; a library that is `nil` or already present is not added. A
    ///   manifest without `plugins` uses every library.
    /// - Throws: `manifest.unsupported` unless it is JSON in the `backplane` dialect; `manifest.missing-key` if there
    ///   are no `managers`; `manifest.malformed` for a manager that is already present; `manifest.unwritable` if the
    ///   text cannot be edited.
    package static func add(library: String?, managers: [String: ManifestValue], to bytes: Data) throws(BackplaneError)
        -> Data
    {
        guard ManifestFormat(of: bytes) == .json else {
            throw BackplaneError(
                .manifestUnsupported,
                "a property list cannot be edited in place; convert it to JSON with `backplane convert`")
        }
        guard case .dictionary(var root) = try ManifestValue(parsing: bytes), root["manifestVersion"] != nil else {
            throw BackplaneError(
                .manifestUnsupported,
                "`manifestVersion` is missing; add it with `backplane convert --upgrade`")
        }
        var text = bytes
        if let library, case .array(let plugins)? = root["plugins"] {
            let entry = ManifestValue.dictionary(["library": .string(library)])
            let isThere = plugins.contains {
                if case .dictionary(let plugin) = $0 { plugin["library"] == .string(library) } else { false }
            }
            if !isThere {
                text = try insert(
                    try written(entry, .plugin), after: plugins.indices.map { "/plugins/\($0)" }, in: "/plugins", text)
                root["plugins"] = .array(plugins + [entry])
            }
        }
        guard case .dictionary(var present)? = root["managers"] else {
            throw BackplaneError(
                .manifestMissingKey,
                "there is no dictionary of managers; add `\"managers\": {}` and try again", at: "/managers")
        }
        for (name, value) in managers.sorted(by: { $0.key < $1.key }) {
            guard present[name] == nil else {
                throw BackplaneError(.manifestMalformed, "there is already a manager `\(name)`", at: "/managers")
            }
            let places = present.keys.map { (ManifestPath() / "managers" / $0).description }
            text = try insert(
                name.json + Array(": ".utf8) + (try written(value, .manager)), after: places, in: "/managers", text)
            present[name] = value
        }
        root["managers"] = .dictionary(present)
        guard try ManifestValue(parsing: text) == .dictionary(root) else {
            throw BackplaneError(.manifestUnwritable, "the entry could not be inserted into the text; add it by hand")
        }
        return text
    }

    /// Returns the text of a member of a manifest, indented by two spaces per level.
    private static func written(_ value: ManifestValue, _ shape: ManifestShape) throws(BackplaneError) -> [UInt8] {
        do { return Array(try JSONWriter.write(value, shape).dropLast()) } catch {
            throw BackplaneError(manifest: error)
        }
    }

    /// Inserts an element after the last existing one and in its style: on a line of its own or on the same line.
    private static func insert(_ element: [UInt8], after places: [String], in container: String, _ bytes: Data)
        throws(BackplaneError) -> Data
    {
        let text = Array(bytes), mark = bytes.count - bytes.withoutByteOrderMark.count
        let extents = JSONReader.extents(of: places + [container], in: bytes)
        guard let whole = extents[container] else {
            throw BackplaneError(.manifestUnwritable, "the entry could not be inserted into the text", at: container)
        }
        let close = whole.upperBound + mark - 1
        let newline = bytes.firstRange(of: Data("\r\n".utf8)) == nil ? "\n" : "\r\n"
        if let last = places.compactMap({ extents[$0] }).max(by: { $0.upperBound < $1.upperBound }) {
            let end = last.upperBound + mark, indent = text.indent(before: last.lowerBound + mark)
            let gap = "," + (indent.map { newline + $0 } ?? " ")
            return Data(
                text[..<end] + Array(gap.utf8)
                    + element.indented(by: indent ?? text.indentOfLine(at: end), text.step, newline) + text[end...])
        }
        let outer = text.indentOfLine(at: close), inner = outer + text.step
        let open = text[..<close].lastIndex { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? close
        return Data(
            text[...open] + Array((newline + inner).utf8) + element.indented(by: inner, text.step, newline)
                + Array((newline + outer).utf8) + text[close...])
    }
}

extension [UInt8] {
    /// Returns the indentation of an element that begins its line; `nil` if other text precedes it.
    fileprivate func indent(before offset: Int) -> String? {
        let space = self[..<offset].reversed().prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let start = offset - space.count
        guard start > 0, self[start - 1] == UInt8(ascii: "\n") else { return nil }
        return String(decoding: self[start..<offset], as: UTF8.self)
    }

    /// Returns the indentation of the line at an offset.
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
