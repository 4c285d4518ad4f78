import Foundation

/// The libraries of `Tests/Plugins`, which SwiftPM has built beside this program, and variants of them.
package enum FixtureLibrary {
    /// Returns the bytes of a library or, if arguments besides the name are given, of a variant.
    ///
    /// - Parameters:
    ///   - id: The plugin's id.
    ///   - version: The version of the plugin and its components.
    ///   - abi: The ABI numbers in its identity.
    ///   - settings: The values that `setting` in `Tests/Plugins/fixture.h` returns.
    package static func bytes(
        _ name: String = "FixturesInC", id: String? = nil, version: String? = nil, abi: ClosedRange<UInt32>? = nil,
        settings: [String: String] = [:]
    ) throws -> [UInt8] {
        var bytes = try Data(contentsOf: URL(filePath: "\(BuiltProducts.folder)/lib\(name).so"))
        func write(_ text: String, after mark: String, at offset: Int, size: Int) {
            guard let start = bytes.firstRange(of: Data(mark.utf8))?.lowerBound, text.utf8.count < size else {
                preconditionFailure("lib\(name).so has no room for `\(text)` after `\(mark)`")
            }
            let zeros = Data(count: size - text.utf8.count)
            bytes.replaceSubrange(start + offset..<start + offset + size, with: Data(text.utf8) + zeros)
        }
        // The offsets of fields in `bp_identity`, counted from its first field, the magic number.
        if let id { write(id, after: "BACKPLNE", at: 216, size: 72) }
        if let version { write(version, after: "BACKPLNE", at: 288, size: 32) }
        if let abi, let record = bytes.firstRange(of: Data("BACKPLNE".utf8))?.lowerBound {
            for (offset, number) in [(12, abi.lowerBound), (16, abi.upperBound)] {
                withUnsafeBytes(of: number.littleEndian) {
                    bytes.replaceSubrange(record + offset..<record + offset + 4, with: $0)
                }
            }
        }
        if !settings.isEmpty {
            let mark = "backplane.fixture-settings:"
            let text = settings.sorted { $0.key < $1.key }.map { "\($0)=\($1)\0" }.joined()
            write(text, after: mark + "\0", at: mark.utf8.count + 1, size: 2000)
        }
        return Array(bytes)
    }
}
