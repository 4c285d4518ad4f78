import Backplane
import BackplaneDocuments
import BackplaneNetwork

extension ManifestSection {
    static let network = ManifestSection(
        key: "network",
        keys: ManifestKeys(["executors", "filters", "observers", "serializers", "tls", "traced", "credentials"]),
        fixed: []
    ) { reader, section, manifest in
        manifest.network.executors = reader.executors(in: section)
        manifest.network.tls = reader.tls(in: section)
        manifest.network.traced = reader.hostNames("traced", in: section)
        manifest.network.credentials = reader.credentials(in: section)
        manifest.network.filters = reader.filters(in: section)
        manifest.network.observers = reader.observers(in: section)
        manifest.network.serializers = reader.serializers(in: section)
    } members: { manifest in
        let network = manifest.network
        var members: [String: ManifestValue] = [:]
        if !network.executors.isEmpty {
            members["executors"] = .dictionary(network.executors.mapValues { .string($0) })
        }
        if !network.tls.isEmpty {
            members["tls"] = .dictionary(
                network.tls.mapValues { settings in
                    var host: [String: ManifestValue] = [:]
                    host["roots"] = settings.roots.map { .string($0) }
                    host["minimum"] = settings.minimum.map { .string($0.rawValue) }
                    host["certificate"] = settings.certificate.map { .string($0) }
                    host["key"] = settings.key.map { .string($0) }
                    return .dictionary(host)
                })
        }
        if !network.filters.isEmpty { members["filters"] = .array(network.filters.map(\.value)) }
        if !network.observers.isEmpty { members["observers"] = .array(network.observers.map(ManifestValue.string)) }
        if !network.serializers.isEmpty {
            members["serializers"] = .dictionary(network.serializers.mapValues { .string($0) })
        }
        if !network.traced.isEmpty { members["traced"] = .array(network.traced.map(ManifestValue.string)) }
        if !network.credentials.isEmpty { members["credentials"] = .dictionary(network.credentials.mapValues(\.value)) }
        return members
    }
}

extension ManifestReader {
    /// Reads an array of names of hosts, without schemes and ports.
    mutating func hostNames(_ key: String, in section: Section) -> [String] {
        strings(key, in: section, most: ManifestLimits.hosts) { reader, name, path in
            if name.isHostName { return true }
            reader.report(
                .manifestWrongType,
                "expected the name of a host without scheme and port, such as `books.example.org`, found `\(reader.shown(name, at: path))`",
                at: path)
            return false
        }
    }
}

extension String {
    /// A Boolean value that indicates whether the text is the name of a host or its IPv4 address.
    fileprivate var isHostName: Bool {
        utf8.count <= 253
            && split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(\.isOfHostName)
            }
    }
}

extension UInt8 {
    fileprivate var isOfHostName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
