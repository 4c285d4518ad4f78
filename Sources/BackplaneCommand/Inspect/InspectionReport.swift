import Backplane
import BackplaneHost
import BackplaneValidate

/// The findings of `inspect`, in the format of `--json`.
struct InspectionReport: Encodable {
    var path: String
    /// A Boolean value that indicates whether a host would load the library.
    var loads: Bool { problems.isEmpty }
    /// The size of the file, in bytes.
    var size: Int?
    var sha256: String?
    /// The contents of the identity section.
    var identity: IdentityRow?
    /// The description that the library returned when it was loaded.
    var plugin: PluginReport?
    /// The reasons why a host would not load the library.
    var problems: [BackplaneError]

    init(_ inspection: LibraryInspection) {
        (path, size, sha256) = (inspection.path, inspection.size, inspection.sha256)
        identity = inspection.identity.map(IdentityRow.init)
        problems = [inspection.refusal].compactMap(\.self)
    }

    struct IdentityRow: Encodable {
        var id, version: String?
        var abi: ABI
        var sdk, toolchain: String?
        /// The major and minor version of the Swift compiler.
        var swift: String?
        var hasSwift: Bool

        struct ABI: Encodable { var lowest, highest: UInt32 }

        init(_ identity: LibraryIdentity) {
            (id, version, sdk, toolchain) = (
                identity.id, identity.version?.description, identity.sdk, identity.toolchain
            )
            (swift, hasSwift) = (identity.swift.map(SwiftRuntime.minor), identity.hasSwift)
            abi = ABI(lowest: identity.abi.lowerBound, highest: identity.abi.upperBound)
        }
    }

    private enum CodingKeys: String, CodingKey { case path, loads, size, sha256, identity, plugin, problems }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(loads, forKey: .loads)
        try container.encodeIfPresent(size, forKey: .size)
        try container.encodeIfPresent(sha256, forKey: .sha256)
        try container.encodeIfPresent(identity, forKey: .identity)
        try container.encodeIfPresent(plugin, forKey: .plugin)
        try container.encode(problems, forKey: .problems)
    }
}
