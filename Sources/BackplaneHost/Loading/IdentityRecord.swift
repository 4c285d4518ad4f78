package import Backplane

/// A record of the section `backplane`: a `bp_identity`, with the layout described in part 5 of `backplane.h`.
package struct IdentityRecord: Sendable, Hashable {
    package let abi: ClosedRange<UInt32>
    package let swift: Version?
    package let sdk, toolchain, id: String?
    package let version: Version?

    /// The reason why bytes are not a record, worded to follow "its identity".
    package struct Defect: Error, Hashable {
        package let text: String
    }

    /// The minimum size of a record, in bytes, that contains all required fields.
    private static let leastSize = 24
    /// The maximum number of records; a plugin has one for each of its separately built parts.
    private static let most = 1_000

    /// Returns the consecutive records that fill `section`.
    ///
    /// A longer record of a newer SDK begins with the fields known here; fields beyond the end of a shorter one are
    /// unknown.
    package static func all(in section: ArraySlice<UInt8>) throws(Defect) -> [IdentityRecord] {
        guard !section.isEmpty else { throw Defect(text: "is empty") }
        var (records, rest): ([IdentityRecord], ArraySlice<UInt8>) = ([], section)
        while !rest.isEmpty {
            guard records.count < most else { throw Defect(text: "has more than \(most) records") }
            let size = try size(ofFirstIn: rest)
            records.append(try IdentityRecord(rest.prefix(size)))
            // The compiler aligns every record to eight bytes.
            rest = rest.dropFirst((size + 7) / 8 * 8)
        }
        return records
    }

    private static func size(ofFirstIn bytes: ArraySlice<UInt8>) throws(Defect) -> Int {
        guard bytes.starts(with: "BACKPLNE".utf8) else { throw Defect(text: "does not begin with BACKPLNE") }
        guard bytes.count >= 12 else { throw Defect(text: "is truncated after \(bytes.count) bytes") }
        let size = Int(Self.number(bytes, at: 8))
        guard size >= leastSize else {
            throw Defect(text: "declares its size as \(size) bytes, but needs \(leastSize)")
        }
        guard size <= bytes.count else {
            throw Defect(text: "declares its size as \(size) bytes, but has \(bytes.count)")
        }
        return size
    }

    /// Creates a record from its bytes.
    ///
    /// - Precondition: `bytes` has at least ``leastSize`` bytes.
    private init(_ bytes: ArraySlice<UInt8>) throws(Defect) {
        let (lowest, highest) = (Self.number(bytes, at: 12), Self.number(bytes, at: 16))
        guard lowest <= highest else { throw Defect(text: "declares an ABI range from \(lowest) down to \(highest)") }
        abi = lowest...highest
        let compiler = Int(Self.number(bytes, at: 20))
        swift = compiler == 0 ? nil : Version(compiler / 1000, compiler % 1000)
        sdk = try Self.text(bytes, at: 24, 32, "SDK version")
        toolchain = try Self.text(bytes, at: 56, 160, "toolchain")
        id = try Self.text(bytes, at: 216, 72, "id")
        version = try Self.version(Self.text(bytes, at: 288, 32, "version"))
    }

    private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
        bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func text(_ bytes: ArraySlice<UInt8>, at offset: Int, _ size: Int, _ what: String) throws(Defect)
        -> String?
    {
        guard bytes.count >= offset + size else { return nil }
        let field = bytes.dropFirst(offset).prefix(size)
        let text = field.prefix { $0 != 0 }
        guard field.dropFirst(text.count).allSatisfy({ $0 == 0 }) else {
            throw Defect(text: "has bytes after the end of its \(what)")
        }
        guard let valid = String(validating: text, as: UTF8.self) else {
            throw Defect(text: "does not state its \(what) in UTF-8")
        }
        return valid.isEmpty ? nil : valid
    }

    private static func version(_ text: String?) throws(Defect) -> Version? {
        guard let text else { return nil }
        guard let version = Version(text) else {
            throw Defect(text: "has the version `\(text)`, expected one such as 1.2.0")
        }
        return version
    }
}
