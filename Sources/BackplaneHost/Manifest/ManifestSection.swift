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
    /// The keys of its dictionary.
    let keys: ManifestKeys
    /// The function that reads the section, with its variables expanded, and reports its problems.
    let read: @Sendable (inout ManifestReader, ManifestReader.Section, inout Manifest) -> Void

    /// The sections, in the order in which they are written.
    static let all = [store, network, swap]

    private static let store = ManifestSection(
        key: "store", keys: ManifestKeys(["durability", "damaged"])
    ) { reader, section, manifest in
        let policies: [DamagedStorePolicy] = [.salvage, .refuse]
        let durabilities: [StoreDurability] = [.full, .normal]
        manifest.store.durability = reader.choice("durability", of: durabilities, in: section) ?? .full
        manifest.store.damaged = reader.choice("damaged", of: policies, in: section) ?? .salvage
    }

    private static let swap = ManifestSection(
        key: "swap", keys: ManifestKeys(["drain", "longCalls", "retries", "retryFor"])
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
            reportUnknownKeys(in: values, known: section.keys)
        }
        return errorCount == before
    }
}

extension ManifestSection {
    static let network = ManifestSection(
        key: "network",
        keys: ManifestKeys(["executors", "filters", "observers", "serializers", "tls", "traced", "credentials"])
    ) { reader, section, manifest in
        manifest.network.executors = reader.executors(in: section)
        manifest.network.tls = reader.tls(in: section)
        manifest.network.traced = reader.hostNames("traced", in: section)
        manifest.network.credentials = reader.credentials(in: section)
        manifest.network.filters = reader.filters(in: section)
        manifest.network.observers = reader.observers(in: section)
        manifest.network.serializers = reader.serializers(in: section)
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

/// The shape of a value in a manifest, which determines the order of its members in the text.
enum ManifestShape: MemberOrder {
    case root, plugins, plugin, managers, manager, dataAccessController, communicationController, services, service
    case environments, environment
    case section(ManifestSection)
    /// A dictionary whose keys are not part of the format, and whose members are sorted.
    case other

    /// Returns the shape of a whole manifest.
    static func whole(_ value: ManifestValue) -> ManifestShape {
        guard case .dictionary(let members) = value else { return .other }
        return members["manifestVersion"] == nil ? .managers : .root
    }

    var elements: ManifestShape {
        switch self {
        case .plugins: .plugin
        case .services: .service
        default: .other
        }
    }

    func member(_ key: String) -> ManifestShape {
        switch (self, key) {
        case (.root, "plugins"), (.environment, "plugins"): .plugins
        case (.root, "managers"), (.environment, "managers"): .managers
        case (.root, "environments"): .environments
        case (.environments, _): .environment
        case (.managers, _): .manager
        case (.manager, "dataAccessController"): .dataAccessController
        case (.manager, "communicationController"): .communicationController
        case (.communicationController, "services"): .services
        case (.root, _), (.environment, _): ManifestSection.all.first { $0.key == key }.map(Self.section) ?? .other
        default: .other
        }
    }

    /// Returns the members in the order in which they are written, beginning with known keys.
    func ordered(_ members: [String: ManifestValue]) -> [(key: String, value: ManifestValue)] {
        let known = keys?.all ?? []
        let first = known.compactMap { key in members[key].map { (key: key, value: $0) } }
        return first + members.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
    }

    private var keys: ManifestKeys? {
        switch self {
        case .root: .root
        case .environment: .environment
        case .plugin: .plugin
        case .manager: .manager
        case .dataAccessController: .dataAccessController
        case .communicationController: .communicationController
        case .service: .service
        case .section(let section): section.keys
        case .plugins, .managers, .services, .environments, .other: nil
        }
    }
}

/// The limits of a manifest in addition to those of any document.
package enum ManifestLimits {
    package static let managers = 10_000
    /// The maximum number of services of all managers.
    package static let services = 10_000
    /// The maximum number of libraries.
    package static let plugins = 10_000
    /// The maximum length of a name or a path; the latter is the system's `PATH_MAX`.
    package static let nameBytes = 4_096
    /// The maximum number of listed errors, and of listed warnings; additional ones are only counted.
    package static let problems = 1_000
    package static let environments = 100
    /// The maximum number of hosts to which traces are sent, and of hosts of one filter.
    package static let hosts = 1_000
    /// The maximum number of managers that filter exchanges, and of those that observe them.
    package static let filters = 100
    /// The maximum number of credentials.
    package static let credentials = 1_000
    /// The maximum number of hosts of one credential.
    package static let credentialHosts = 100
    /// The maximum number of values that a credential passes to its authenticating manager.
    package static let credentialValues = 100
    /// The maximum length of a user's name, a password or a token, which is what servers accept as a header field.
    package static let secretBytes = 16 << 10
}
