import Backplane
import BackplaneDocuments
import BackplaneNetwork
import BackplaneRecords
import BackplaneStorage

/// A top-level section of a manifest that configures one part of the host.
///
/// A section is declared only in ``all``, which determines the reader, the order of writing, the known keys of a
/// manifest and of its environments, and the schema's test.
struct ManifestSection: Sendable {
    /// The key of the section in the root and in an environment.
    let key: String
    let shape: ManifestShape
    /// The function that reads the section, with its variables expanded, and reports its problems.
    let read: @Sendable (inout ManifestReader, ManifestReader.Section, inout Manifest) -> Void

    /// The sections, in the order in which they are written.
    static let all = [store, network, server, screens, swap]

    private static let store = ManifestSection(
        key: "store", shape: ManifestShape(["durability", "damaged"])
    ) { reader, section, manifest in
        let policies: [DamagedStorePolicy] = [.moveAside, .refuse]
        let durabilities: [StoreDurability] = [.full, .normal]
        manifest.store.durability = reader.choice("durability", of: durabilities, in: section) ?? .full
        manifest.store.damaged = reader.choice("damaged", of: policies, in: section) ?? .moveAside
    }

    private static let swap = ManifestSection(
        key: "swap", shape: ManifestShape(["drain", "longCalls", "retries", "retryFor"])
    ) { reader, section, manifest in
        let longCalls = reader.choice("longCalls", of: LongCalls.allCases, in: section)
        let retries = reader.count("retries", in: 1...1_000_000, in: section)
        let retryFor = reader.seconds("retryFor", in: section)
        if longCalls == .cancel || longCalls == .fail { reader.refuse(["retries", "retryFor"], in: section) }
        manifest.swap.drain = DrainPolicy(
            limit: reader.seconds("drain", in: section), longCalls: longCalls, retries: retries, retryFor: retryFor)
    }
}

extension ManifestReader {
    /// Reports keys that another value of their section excludes.
    fileprivate mutating func refuse(_ keys: [String], in section: Section) {
        for key in keys where section.values[key] != nil {
            report(.manifestWrongType, "`\(key)` needs `\"longCalls\": \"later\"`", at: section.path / key)
        }
    }

    /// Reads the sections of a root into a manifest and returns whether they have no errors.
    mutating func readSections(of root: Section, into manifest: inout Manifest) -> Bool {
        let before = errorCount  // not all errors are listed
        for section in ManifestSection.all {
            guard let value = root.values[section.key] else { continue }
            let path = root.path / section.key
            guard let values = self.section(expanding(value, at: path), at: path) else { continue }
            section.read(&self, values, &manifest)
            reportUnknownKeys(in: values, known: section.shape)
        }
        return errorCount == before
    }
}

extension ManifestSection {
    static let network = ManifestSection(
        key: "network",
        shape: ManifestShape(
            ["executors", "interceptors", "serializers", "tls", "traced", "credentials", "limits", "cache"],
            ["cache": .cache])
    ) { reader, section, manifest in
        manifest.network.executors = reader.executors(in: section)
        manifest.network.tls = reader.tls(in: section)
        manifest.network.traced = reader.hostNames("traced", in: section)
        manifest.network.credentials = reader.credentials(in: section)
        manifest.network.interceptors = reader.interceptors(in: section)
        manifest.network.serializers = reader.names("serializers", in: section)
        manifest.network.limits = reader.limits(in: section)
        manifest.network.cache = reader.cache(in: section)
    }
}

extension ManifestReader {
    /// Reads an array of names of hosts, without schemes and ports.
    mutating func hostNames(_ key: String, in section: Section) -> [String] {
        strings(key, in: section, most: ManifestLimits.hosts) { reader, name, path in
            if name.isHost() { return true }
            reader.report(
                .manifestWrongType,
                "expected the name of a host in lower case, without scheme and port, such as `books.example.org`, found `\(reader.shown(name, at: path))`",
                at: path)
            return false
        }
    }
}

/// A kind of dictionary in a manifest: its keys, in the order in which they are written, and the kinds of their values.
final class ManifestShape: MemberOrder, Sendable {
    /// The known keys; empty if the format does not define the keys, which are then sorted when written.
    let keys: [String]
    /// The keys that exist only in the `backplane` dialect.
    let own: Set<String>
    private let members: [String: ManifestShape]
    /// The shape of the other members, or of the elements of an array.
    private let each: ManifestShape?

    init(
        _ keys: [String] = [], shared: Set<String> = [], _ members: [String: ManifestShape] = [:],
        each: ManifestShape? = nil
    ) {
        (self.keys, own) = (keys, Set(keys).subtracting(shared))
        (self.members, self.each) = (members, each)
    }

    func known(isNemoLogic: Bool) -> [String] { isNemoLogic ? keys.filter { !own.contains($0) } : keys }

    static func whole(_ value: ManifestValue) -> ManifestShape {
        guard case .dictionary(let members) = value else { return other }
        return members["manifestVersion"] == nil ? managers : root
    }

    var elements: ManifestShape { each ?? .other }

    func member(_ key: String) -> ManifestShape { members[key] ?? each ?? .other }

    /// Returns the members in the order in which they are written, beginning with known keys.
    func ordered(_ members: [String: ManifestValue]) -> [(key: String, value: ManifestValue)] {
        let first = keys.compactMap { key in members[key].map { (key: key, value: $0) } }
        return first + members.filter { !keys.contains($0.key) }.sorted { $0.key < $1.key }
    }
}

extension ManifestShape {
    static let other = ManifestShape()
    static let root = ManifestShape(
        ["$schema", "manifestVersion"] + environment.keys + ["environments", "lock"],
        environment.members.merging(["environments": ManifestShape(each: environment)]) { $1 })
    static let environment = ManifestShape(
        ["plugins", "managers"] + ManifestSection.all.map(\.key),
        ManifestSection.all.reduce(into: ["plugins": ManifestShape(each: plugin), "managers": managers]) {
            $0[$1.key] = $1.shape
        })
    static let plugin = ManifestShape(["library", "version", "sha256", "resources"])
    static let managers = ManifestShape(each: manager)
    static let manager = ManifestShape(
        [
            "className", "was", "version", "activation", "uses", "configuration", "dataAccessController",
            "communicationController",
        ], shared: ["className", "dataAccessController", "communicationController"],
        ["dataAccessController": dataAccessController, "communicationController": communicationController])
    static let dataAccessController = ManifestShape(
        ["className", "version", "namespace", "was", "configuration"], shared: ["className"])
    static let communicationController = ManifestShape(
        ["className", "version", "namespace", "configuration", "services"], shared: ["className", "services"],
        ["services": ManifestShape(each: service)])
    static let service = ManifestShape(
        ["className", "version", "namespace", "propertyName", "configuration", "networkServiceConfiguration"],
        shared: ["className", "propertyName", "networkServiceConfiguration"])
    static let lockedClass = ManifestShape(["plugin", "version"])
    static let tls = ManifestShape(["roots", "minimum", "certificate", "key", "pins", "reportOnly"])
    static let cache = ManifestShape(["memory", "disk", "provider"])
    static let interceptor = ManifestShape(["manager", "hosts"])
    static let tokenRequest = ManifestShape([
        "method", "url", "headers", "json", "form", "token", "expires", "refreshToken",
    ])
    static let tokenPlace = ManifestShape(["query", "scheme"])
}

/// The limits of a manifest in addition to those of any document.
package enum ManifestLimits {
    package static let managers = 10_000
    package static let services = 10_000
    package static let plugins = 10_000
    /// The maximum length of a name or a path; the latter is the system's `PATH_MAX`.
    package static let nameBytes = 4_096
    /// The maximum number of listed errors, and of listed warnings; additional ones are only counted.
    static let problems = 1_000
    package static let environments = 100
    /// The maximum number of hosts for traces, for limits, and for one interceptor.
    package static let hosts = 1_000
    package static let interceptors = 100
    package static let tabs = 20
    /// The number of bytes of a cache, up to 1 PB.
    package static let cacheBytes: ClosedRange<Int64> = 0...1 << 50
    package static let credentials = 1_000
    package static let credentialHosts = 100
    /// The maximum number of values that a credential passes to its authenticating manager.
    package static let credentialValues = 100
    /// The maximum length of a user's name, a password or a token, which is what servers accept as a header field.
    package static let secretBytes = 16 << 10
}
