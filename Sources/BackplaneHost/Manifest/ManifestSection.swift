import Backplane
import BackplaneDocuments
import BackplaneStorage

/// A top-level section of a manifest that configures one part of the host.
///
/// ``all`` is the one place where a section is declared. The reader, the writer, the known keys of a manifest and of
/// its environments, `apply` and the schema's test follow it.
struct ManifestSection: Sendable {
    /// The key of the section in the root and in an environment.
    let key: String
    /// The keys of its dictionary.
    let keys: ManifestKeys
    /// The keys whose values a running host cannot change once it uses them.
    let fixed: Set<String>
    /// Reads the section, with its variables expanded, and reports its problems.
    let read: @Sendable (inout ManifestReader, ManifestReader.Section, inout Manifest) -> Void
    /// Returns the members that differ from their defaults.
    let members: @Sendable (Manifest) -> [String: ManifestValue]

    /// The sections, in the order in which they are written.
    static let all = [store]

    private static let store = ManifestSection(
        key: "store", keys: ManifestKeys(["damaged"]), fixed: ["damaged"]
    ) { reader, section, manifest in
        let policies: [DamagedStorePolicy] = [.salvage, .refuse]
        manifest.store.damaged = reader.choice("damaged", of: policies, in: section) ?? .salvage
    } members: { manifest in
        manifest.store.damaged == .salvage ? [:] : ["damaged": .string(manifest.store.damaged.rawValue)]
    }

    /// Returns the section of a manifest as it is written; `nil` if it has only defaults.
    func value(in manifest: Manifest) -> ManifestValue? {
        let members = members(manifest)
        return members.isEmpty ? nil : .dictionary(members)
    }

    /// Returns the places of the values that another manifest changes and a running host cannot, sorted.
    func fixedChanges(from old: Manifest, to new: Manifest) -> [String] {
        let (before, after) = (members(old), members(new))
        return fixed.filter { before[$0] != after[$0] }.sorted().map { (ManifestPath() / key / $0).description }
    }
}

extension ManifestReader {
    /// Reads the sections of a root into a manifest and returns whether they have no errors.
    mutating func readSections(of root: Section, into manifest: inout Manifest) -> Bool {
        let before = problems.count
        for section in ManifestSection.all {
            guard let value = root.values[section.key] else { continue }
            let path = root.path / section.key
            guard let values = self.section(expanding(value, at: path), at: path) else { continue }
            section.read(&self, values, &manifest)
            warnOfUnknownKeys(in: values, known: section.keys)
        }
        return !problems[before...].contains { $0.severity == .error }
    }
}
