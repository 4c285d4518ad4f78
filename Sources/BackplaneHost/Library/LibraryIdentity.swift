package import Backplane
import CBackplane

/// The metadata in a library's file, which is known before any of the library's code runs.
///
/// The metadata is combined from all records of the section `backplane`. Each record is a `bp_identity`, with the
/// layout described in part 5 of `backplane.h`.
package struct LibraryIdentity: Sendable, Hashable {
    package let abi: ClosedRange<UInt32>
    /// The version of the Backplane SDK in the library; `nil` if it does not contain the SDK.
    package let sdk: String?
    /// The compiler that built the library, as the compiler identifies itself.
    package let toolchain: String?
    /// The version of the Swift compiler without its patch number; `nil` if none was used.
    package let swift: Version?
    /// Whether the library contains Swift code, independent of its records.
    package let hasSwift: Bool
    /// The plugin's id and version, if known at this point.
    package let id: String?
    package let version: Version?

    package static let section = "backplane"
    package static let hostABI = UInt32(BP_ABI_MIN)...UInt32(BP_ABI_MAX)

    package init(of image: ELFImage, at path: String) throws(BackplaneError) {
        guard let section = image.section(named: Self.section) else {
            throw Self.missing("it has no section `\(Self.section)`", path)
        }
        do throws(Defect) {
            try self.init(Self.records(in: section[...]), hasSwift: image.hasSwift)
        } catch {
            throw Self.missing("its identity \(error.text)", path)
        }
    }

    /// Creates one identity from all records of a section.
    ///
    /// A plugin that links the SDK has a record of the SDK's C target and one of its Swift compiler, and may have its
    /// own.
    private init(_ records: [LibraryIdentity], hasSwift: Bool) throws(Defect) {
        self.hasSwift = hasSwift
        abi = try Self.agreed(records.map(\.abi), "ABI range") ?? Self.hostABI
        sdk = try Self.agreed(records.compactMap(\.sdk), "SDK version")
        swift = try Self.agreed(records.compactMap(\.swift), "Swift compiler")
        id = try Self.agreed(records.compactMap(\.id), "id")
        version = try Self.agreed(records.compactMap(\.version), "version")
        // C code may come from another compiler; only the one that built the Swift code matters.
        toolchain =
            records.first { $0.swift != nil && $0.toolchain != nil }?.toolchain
            ?? records.lazy.compactMap(\.toolchain).first
    }

    private static func agreed<Value: Hashable>(_ values: [Value], _ what: String) throws(Defect)
        -> Value?
    {
        if let other = values.first(where: { $0 != values[0] }) {
            throw Defect(text: "has two values for its \(what), \(values[0]) and \(other)")
        }
        return values.first
    }

    private static func missing(_ reason: String, _ path: String) -> BackplaneError {
        BackplaneError(
            .pluginNoIdentity,
            """
            the library does not identify itself as a plugin: \(reason); link the Backplane SDK, \
            or write BP_IDENTITY("id", "1.0.0") once at file scope (backplane.h, part 5)
            """,
            at: path)
    }
}

extension LibraryIdentity {
    package func requireABI(in host: ClosedRange<UInt32> = Self.hostABI, at path: String) throws(BackplaneError) {
        if abi.overlaps(host) { return }
        let advice =
            abi.lowerBound > host.upperBound
            ? "rebuild the host with a newer Backplane, or the plugin with an older SDK"
            : "rebuild the plugin with a newer Backplane SDK"
        throw BackplaneError(
            .pluginABIMismatch,
            "the plugin supports ABI \(Self.text(abi)), this host ABI \(Self.text(host)); \(advice)",
            at: path)
    }

    /// Checks that the running plugin's answers match its identity.
    func requireAgreement(with answer: PluginDescription) throws(BackplaneError) {
        guard abi.contains(answer.abi) else {
            throw BackplaneError(
                .pluginABIMismatch,
                "the plugin chose ABI \(answer.abi), but its identity states \(Self.text(abi)); build all of it with the same header"
            )
        }
        guard id ?? answer.id == answer.id, version ?? answer.version == answer.version else {
            let said = [id, version?.description].compactMap(\.self).joined(separator: " ")
            throw BackplaneError(
                .pluginInvalidAnswer,
                "the plugin's answer states \(answer.id) \(answer.version), but its identity states \(said); make "
                    + "them identical"
            )
        }
    }

    package static func text(_ range: ClosedRange<UInt32>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}

extension LibraryIdentity {
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
    package static func records(in section: ArraySlice<UInt8>) throws(Defect) -> [LibraryIdentity] {
        guard !section.isEmpty else { throw Defect(text: "is empty") }
        var (records, rest): ([LibraryIdentity], ArraySlice<UInt8>) = ([], section)
        while !rest.isEmpty {
            guard records.count < most else { throw Defect(text: "has more than \(most) records") }
            let size = try size(ofFirstIn: rest)
            records.append(try LibraryIdentity(rest.prefix(size)))
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

    /// Creates the identity of one record, which has at least ``leastSize`` bytes.
    private init(_ bytes: ArraySlice<UInt8>) throws(Defect) {
        let (lowest, highest) = (Self.number(bytes, at: 12), Self.number(bytes, at: 16))
        guard lowest <= highest else { throw Defect(text: "declares an ABI range from \(lowest) down to \(highest)") }
        abi = lowest...highest
        let compiler = Int(Self.number(bytes, at: 20))
        hasSwift = compiler != 0
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
