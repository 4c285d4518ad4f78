package import Backplane
import BackplaneDocuments
package import FoundationEssentials

/// A namespace for putting a lock into the text of a manifest.
package enum LockText {
    /// Returns the bytes with the given lock; in JSON, only the lock changes.
    ///
    /// A manifest that already has this lock is returned unchanged.
    ///
    /// - Throws: `manifest.unsupported` for a plain Nemo Logic manifest; `manifest.unwritable` if the text cannot be
    ///   edited.
    package static func put(_ lock: [String: LockedClass], into bytes: Data) throws(BackplaneError) -> Data {
        guard case .dictionary(var root) = try ManifestValue(parsing: bytes), root["manifestVersion"] != nil else {
            throw BackplaneError(
                .manifestUnsupported,
                "a manifest without `manifestVersion` cannot have a lock; add the version with `backplane convert --upgrade`"
            )
        }
        if root["lock"] == lock.value { return bytes }
        let keys = Array(root.keys)
        root["lock"] = lock.value
        let format = ManifestFormat(of: bytes)
        guard format == .json else { return try ManifestValue.dictionary(root).encoded(as: format) }
        let edited = edit(bytes, keys, lock)
        guard try ManifestValue(parsing: edited) == .dictionary(root) else {
            throw BackplaneError(
                .manifestUnwritable,
                "the lock could not be inserted into the text; add `\"lock\": {}` and try again")
        }
        return edited
    }

    /// Replaces the root's member `lock`, or adds it after the last member.
    private static func edit(_ bytes: Data, _ keys: [String], _ lock: [String: LockedClass]) -> Data {
        let text = Array(bytes), mark = bytes.count - bytes.withoutByteOrderMark.count
        let extents = JSONReader.extents(of: keys.map { (ManifestPath() / $0).description }, in: bytes)
        let own = extents["/lock"]
        guard let last = own ?? extents.values.max(by: { $0.upperBound < $1.upperBound }) else { return bytes }
        let place = (last.lowerBound + mark)..<(last.upperBound + mark)
        let indent = indent(before: place.lowerBound, in: text)
        let newline = bytes.firstRange(of: Data("\r\n".utf8)) == nil ? "\n" : "\r\n"
        let member = member(lock, indent, newline)
        if own != nil { return Data(text[..<place.lowerBound] + member + text[place.upperBound...]) }
        let gap = "," + (indent.map { newline + $0 } ?? " ")
        return Data(text[..<place.upperBound] + Array(gap.utf8) + member + text[place.upperBound...])
    }

    /// Returns the indentation of a member that begins its line; `nil` if other text precedes it.
    private static func indent(before offset: Int, in text: [UInt8]) -> String? {
        let space = text[..<offset].reversed().prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let start = offset - space.count
        guard start > 0, text[start - 1] == UInt8(ascii: "\n") else { return nil }
        return String(decoding: text[start..<offset], as: UTF8.self)
    }

    private static func member(_ lock: [String: LockedClass], _ indent: String?, _ newline: String) -> [UInt8] {
        let entries = lock.sorted { $0.key < $1.key }.map { key, entry in
            key.json + Array(#": { "plugin": "#.utf8) + entry.plugin.json + Array(#", "version": "#.utf8)
                + entry.version.description.json + Array(" }".utf8)
        }
        if entries.isEmpty { return Array(#""lock": {}"#.utf8) }
        let (before, after) = indent.map { (newline + $0 + $0, newline + $0) } ?? (" ", " ")
        let lines = entries.map { Array(before.utf8) + $0 }.joined(separator: [UInt8(ascii: ",")])
        return Array(#""lock": {"#.utf8) + lines + Array((after + "}").utf8)
    }
}
