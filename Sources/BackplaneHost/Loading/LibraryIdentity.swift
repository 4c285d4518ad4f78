package import Backplane
import BackplaneBoundary
import CBackplane

/// The metadata in a library's file, which is known before any of the library's code runs.
package struct LibraryIdentity: Sendable, Hashable {
    /// The range of ABI numbers that the library supports.
    package let abi: ClosedRange<UInt32>
    /// The version of the Backplane SDK in the library; `nil` if it does not contain the SDK.
    package let sdk: String?
    /// The compiler that built the library, as the compiler identifies itself.
    package let toolchain: String?
    /// The version of the Swift compiler without its patch number; `nil` if none was used.
    package let swift: Version?
    /// A Boolean value that indicates whether the library contains Swift code, independent of its records.
    package let hasSwift: Bool
    /// The plugin's id and version, if known at this point.
    package let id: String?
    package let version: Version?

    /// The name of the section with the records.
    package static let section = "backplane"
    /// The range of ABI numbers that this host supports.
    package static let hostABI = UInt32(BP_ABI_MIN)...UInt32(BP_ABI_MAX)

    /// Creates the identity of the library at `path` from its image.
    package init(of image: ELFImage, at path: String) throws(BackplaneError) {
        guard let section = image.section(named: Self.section) else {
            throw Self.missing("it has no section `\(Self.section)`", path)
        }
        do throws(IdentityRecord.Defect) {
            try self.init(section[...], hasSwift: image.hasSwift)
        } catch {
            throw Self.missing("its identity \(error.text)", path)
        }
    }

    /// Creates one identity from all records of a section.
    ///
    /// A plugin that links the SDK has a record of the SDK's C target and one of its Swift compiler, and may have its
    /// own.
    private init(_ section: ArraySlice<UInt8>, hasSwift: Bool) throws(IdentityRecord.Defect) {
        self.hasSwift = hasSwift
        let records = try IdentityRecord.all(in: section)
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

    private static func agreed<Value: Hashable>(_ values: [Value], _ what: String) throws(IdentityRecord.Defect)
        -> Value?
    {
        if let other = values.first(where: { $0 != values[0] }) {
            throw IdentityRecord.Defect(text: "has two values for its \(what), \(values[0]) and \(other)")
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
    /// Checks that the host and the plugin have an ABI number in common.
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

    /// Returns a range of ABI numbers as text for messages.
    package static func text(_ range: ClosedRange<UInt32>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
