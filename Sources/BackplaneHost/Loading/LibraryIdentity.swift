package import Backplane
import BackplaneBoundary
import CBackplane

/// What a library says of itself before one instruction of it runs.
package struct LibraryIdentity: Sendable, Hashable {
    /// The ABI numbers it speaks.
    package let abi: ClosedRange<UInt32>
    /// The version of the Backplane SDK in it; `nil` without one.
    package let sdk: String?
    /// The compiler it was built by, in the compiler's words.
    package let toolchain: String?
    /// The Swift compiler's version, its patch left out; `nil` without Swift.
    package let swift: Version?
    /// Whether there is Swift code in it, whatever it says.
    package let hasSwift: Bool
    /// The plugin's id and version, where they are known so early.
    package let id: String?
    package let version: Version?

    /// Where the records lie in a library.
    package static let section = "backplane"
    /// The ABI numbers this host speaks.
    package static let hostABI = UInt32(BP_ABI_MIN)...UInt32(BP_ABI_MAX)

    /// The identity of the library at `path`, whose bytes are `image`.
    package init(of image: ELFImage, at path: String) throws(BackplaneError) {
        guard let section = image.section(named: Self.section) else {
            throw Self.missing("it has no section `\(Self.section)`", path)
        }
        do throws(IdentityRecord.Problem) {
            try self.init(section[...], hasSwift: image.hasSwift)
        } catch {
            throw Self.missing("its identity \(error.text)", path)
        }
    }

    /// A plugin that links the SDK brings a record of the SDK's C target and one of its Swift compiler, and may have its own:
    /// together they are one identity.
    private init(_ section: ArraySlice<UInt8>, hasSwift: Bool) throws(IdentityRecord.Problem) {
        self.hasSwift = hasSwift
        let records = try IdentityRecord.all(in: section)
        abi = try Self.agreed(records.map(\.abi), "ABI range") ?? Self.hostABI
        sdk = try Self.agreed(records.compactMap(\.sdk), "SDK version")
        swift = try Self.agreed(records.compactMap(\.swift), "Swift compiler")
        id = try Self.agreed(records.compactMap(\.id), "id")
        version = try Self.agreed(records.compactMap(\.version), "version")
        // Parts in C may well come from another compiler; the one that built the Swift parts is the one that matters.
        toolchain = records.first { $0.swift != nil && $0.toolchain != nil }?.toolchain ?? records.lazy.compactMap(\.toolchain).first
    }

    private static func agreed<Value: Hashable>(_ values: [Value], _ what: String) throws(IdentityRecord.Problem) -> Value? {
        if let other = values.first(where: { $0 != values[0] }) {
            throw IdentityRecord.Problem(text: "gives two values for its \(what), \(values[0]) and \(other)")
        }
        return values.first
    }

    private static func missing(_ reason: String, _ path: String) -> BackplaneError {
        BackplaneError(
            .pluginNoIdentity,
            """
            a plugin says what it is, but \(reason); link the Backplane SDK, \
            or write BP_IDENTITY("id", "1.0.0") once at file scope (backplane.h, part 5)
            """,
            at: path)
    }
}

extension LibraryIdentity {
    /// Makes sure that host and plugin have an ABI number in common.
    package func requireABI(in host: ClosedRange<UInt32> = Self.hostABI, at path: String) throws(BackplaneError) {
        if abi.overlaps(host) { return }
        let advice = abi.lowerBound > host.upperBound
            ? "rebuild the host with a newer Backplane, or the plugin with an older SDK"
            : "rebuild the plugin with a newer Backplane SDK"
        throw BackplaneError(
            .pluginABIMismatch, "the plugin speaks ABI \(Self.text(abi)), this host ABI \(Self.text(host)); \(advice)", at: path)
    }

    /// Makes sure that the plugin says the same when it runs as it said before.
    func requireAgreement(with answer: PluginDescription) throws(BackplaneError) {
        guard abi.contains(answer.abi) else {
            throw BackplaneError(.pluginABIMismatch, "the plugin chose ABI \(answer.abi), and its identity says that it speaks \(Self.text(abi)); build all of it with one header")
        }
        guard id ?? answer.id == answer.id, version ?? answer.version == answer.version else {
            let said = [id, version?.description].compactMap(\.self).joined(separator: " ")
            throw BackplaneError(
                .pluginInvalidAnswer, "the plugin answers that it is \(answer.id) \(answer.version), and its identity says \(said); give both the same")
        }
    }

    /// A range of ABI numbers as messages give it.
    package static func text(_ range: ClosedRange<UInt32>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
