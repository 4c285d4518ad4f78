import Backplane
import BackplaneDocuments
import BackplaneRecords
import BackplaneStorage

/// A top-level section of a manifest that configures one part of the host.
///
/// A section is declared only in ``all``, which determines the reader, the writer, the known keys of a manifest and of
/// its environments, `apply` and the schema's test.
struct ManifestSection: Sendable {
    /// The key of the section in the root and in an environment.
    let key: String
    /// The keys of its dictionary.
    let keys: ManifestKeys
    /// The keys whose values a running host cannot change once it uses them.
    let fixed: Set<String>
    /// The function that reads the section, with its variables expanded, and reports its problems.
    let read: @Sendable (inout ManifestReader, ManifestReader.Section, inout Manifest) -> Void
    /// A function that returns the members that differ from their defaults.
    let members: @Sendable (Manifest) -> [String: ManifestValue]

    /// The sections, in the order in which they are written.
    static let all = [store, network, swap]

    private static let store = ManifestSection(
        key: "store", keys: ManifestKeys(["durability", "damaged"]), fixed: ["durability", "damaged"]
    ) { reader, section, manifest in
        let policies: [DamagedStorePolicy] = [.salvage, .refuse]
        let durabilities: [StoreDurability] = [.full, .normal]
        manifest.store.durability = reader.choice("durability", of: durabilities, in: section) ?? .full
        manifest.store.damaged = reader.choice("damaged", of: policies, in: section) ?? .salvage
    } members: { manifest in
        let store = manifest.store
        var members: [String: ManifestValue] = [:]
        if store.durability != .full { members["durability"] = .string(store.durability.rawValue) }
        if store.damaged != .salvage { members["damaged"] = .string(store.damaged.rawValue) }
        return members
    }

    private static let swap = ManifestSection(
        key: "swap", keys: ManifestKeys(["drain", "longCalls", "retries", "retryFor"]), fixed: []
    ) { reader, section, manifest in
        let longCalls = reader.choice("longCalls", of: LongCalls.allCases, in: section)
        let retries = reader.count("retries", in: 1...1_000_000, in: section)
        let retryFor = reader.seconds("retryFor", in: section)
        if longCalls == .cancel || longCalls == .fail { reader.refuse(["retries", "retryFor"], in: section) }
        manifest.swap.drain = DrainPolicy(
            limit: reader.seconds("drain", in: section), longCalls: longCalls, retries: retries, retryFor: retryFor)
    } members: { manifest in
        let drain = manifest.swap.drain, standard = DrainPolicy.standard
        var members: [String: ManifestValue] = [:]
        if drain.limit != standard.limit { members["drain"] = .seconds(drain.limit) }
        if drain.longCalls != standard.longCalls { members["longCalls"] = .string(drain.longCalls.rawValue) }
        if let own = drain.retries, let usual = standard.retries {
            if own.attempts != usual.attempts { members["retries"] = .integer(Int64(own.attempts)) }
            if own.time != usual.time { members["retryFor"] = .seconds(own.time) }
        }
        return members
    }

    /// Returns the section of a manifest as written; `nil` if it has only defaults.
    func value(in manifest: Manifest) -> ManifestValue? {
        let members = members(manifest)
        return members.isEmpty ? nil : .dictionary(members)
    }

    /// Returns the sorted locations of the values that another manifest changes and a running host cannot change.
    func fixedChanges(from old: Manifest, to new: Manifest) -> [String] {
        let (before, after) = (members(old), members(new))
        return fixed.filter { before[$0] != after[$0] }.sorted().map { (ManifestPath() / key / $0).description }
    }
}

extension ManifestValue {
    /// Returns a duration as a number of seconds.
    fileprivate static func seconds(_ duration: Duration) -> ManifestValue {
        let seconds = duration / .seconds(1)
        return Int64(exactly: seconds).map(ManifestValue.integer) ?? .number(seconds)
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
