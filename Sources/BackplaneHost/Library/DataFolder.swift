package import Backplane
import FoundationEssentials
import Glibc

/// The folder for the persistent data of one manifest's components, which is never removed.
package struct DataFolder: Sendable {
    /// The absolute path, which differs for each manifest; the folder is created with the first component's folder.
    package let path: String

    /// Creates a data folder for the manifest at `manifest`, without creating anything on disk yet.
    ///
    /// - Parameter parent: The folder that contains it; `nil` means `$XDG_STATE_HOME/backplane`, by default
    ///   `~/.local/state/backplane`.
    package init(
        in parent: String? = nil, manifest: String, environment: (String) -> String? = ProcessEnvironment.value
    ) throws(BackplaneError) {
        let parent = if let parent { parent } else { try Self.defaultParent(environment) }
        path = FilePath.join(FilePath.absolute(parent), Self.folderName(manifest: FilePath.absolute(manifest)))
    }

    /// Returns the private folder of the component called `name`, creating it if necessary.
    ///
    /// Regardless of the name in the manifest, the folder is directly in the data folder, and no two names share one.
    package func folder(named name: String) throws(BackplaneError) -> String {
        guard !["", ".", ".."].contains(name) else {
            throw Self.unusable(path, "cannot contain a folder named `\(name)`; give the component another name")
        }
        let folder = FilePath.join(path, Self.escaped(name))
        try Self.make(path)
        try Self.make(folder)
        return folder
    }

    /// A folder of the host itself; no component's folder has such a name, because `@` is escaped in components' names.
    package enum HostFolder: String {
        /// The record store.
        case store = "@store"
        /// The cache of responses.
        case cache = "@cache"
        /// The sign that there were transfers, for the next host.
        case transfers = "@transfers"
        /// The tokens of credentials.
        case credentials = "@credentials"
        /// The tokens of credentials that came from mocks or a cassette.
        case mockedCredentials = "@credentials-of-mocks"
        /// The parent of the folders of components that use the network.
        case network = "@network"
    }

    package func path(of folder: HostFolder) -> String { FilePath.join(path, folder.rawValue) }

    /// Returns the path of a folder of the host, creating the folder if necessary.
    @discardableResult
    package func make(_ folder: HostFolder) throws(BackplaneError) -> String {
        try Self.make(path)
        try Self.make(path(of: folder))
        return path(of: folder)
    }

    /// Returns whether this or an earlier host has created a folder.
    func has(_ folder: HostFolder) -> Bool { access(path(of: folder), F_OK) == 0 }

    /// Returns the path of the private folder of a component that uses the network, which may not exist.
    ///
    /// No two components share a folder.
    package func networkFolder(named name: NetworkFolderName) -> String {
        FilePath.join(path(of: .network), Self.name(of: name))
    }

    package func makeNetworkFolder(named name: NetworkFolderName) throws(BackplaneError) {
        try make(.network)
        try Self.make(networkFolder(named: name))
    }

    private static func make(_ level: String) throws(BackplaneError) {
        do throws(PrivateFolder.Defect) {
            try PrivateFolder.make(at: level)
        } catch {
            throw unusable(level, error.text)
        }
    }

    /// Returns the folder for persistent state according to the XDG Base Directory Specification.
    ///
    /// A relative path in the variable is invalid, and ignored.
    private static func defaultParent(_ environment: (String) -> String?) throws(BackplaneError) -> String {
        if let folder = environment("XDG_STATE_HOME"), folder.hasPrefix("/") {
            return FilePath.join(folder, "backplane")
        }
        guard let home = environment("HOME") else {
            throw BackplaneError(
                .dataFolderUnusable,
                "neither XDG_STATE_HOME nor HOME names a folder for data; choose one with `HostOptions.dataFolder`")
        }
        return FilePath.join(home, ".local/state/backplane")
    }

    private static func unusable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(
            .dataFolderUnusable, "the data folder \(reason); choose another with `HostOptions.dataFolder`",
            at: path)
    }
}

extension DataFolder {
    /// Returns the manifest's file name, for readability, with a hash of its path that distinguishes manifests of the
    /// same name.
    static func folderName(manifest path: String) -> String {
        // A file's name may already have the maximum length of a folder's name.
        let name = escaped(FilePath.name(of: path)).prefix(100)
        let hash = String(stableHash(path), radix: 16)
        return "\(name)-" + String(repeating: "0", count: 16 - hash.count) + hash
    }

    /// Returns `name` with all bytes except A–Z, a–z, 0–9, `.`, `_` and `-` written as `%` and two hexadecimal digits.
    static func escaped(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    static func name(of folder: NetworkFolderName) -> String {
        switch folder {
        case .namespace(let name): escaped(name)
        case .place(let manager, let label): "\(escaped(manager))@\(escaped(label))"
        }
    }

    /// Returns the 64-bit FNV-1a hash, which unlike `Hasher` is stable across processes but is not secure against
    /// attacks.
    private static func stableHash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

/// The locations of the data of data access controllers, where their names differ from the controllers' namespaces.
///
/// A place is the name of a folder and of a part of the record store. It never moves: a controller with a new namespace
/// that continues an earlier one keeps its place. Therefore an interrupted change loses nothing, and the earlier code
/// finds its data again. If a namespace is reused while another one has kept its place, it is assigned a new place.
struct DataPlaces: Equatable, Sendable {
    /// A place that a namespace took over or was assigned.
    struct Entry: Codable, Equatable, Sendable {
        var namespace: String
        var place: String
    }
    /// The entries, the latest last; the later of two entries for one place takes precedence.
    private(set) var entries: [Entry]

    init(_ entries: [Entry] = []) { self.entries = entries }

    /// Returns the place of a namespace.
    ///
    /// - Parameters:
    ///   - was: The namespace that it continues, which is used only while the namespace has no place of its own.
    ///   - others: A function that returns whether the plan has a namespace, which may use a place.
    ///   - exists: A function that returns whether there is data at a place.
    ///
    /// A new place has a name that no namespace can have, because a leading `@` is reserved for the host.
    func place(of namespace: String, was: String?, others: (String) -> Bool, exists: (String) -> Bool) -> String {
        if let place = kept(by: namespace, others) { return place }
        let isOwn = !isTaken(namespace, from: namespace, since: 0, others)
        if isOwn, was == nil || exists(namespace) { return namespace }
        if let was {
            let former = kept(by: was, others) ?? was
            if !isTaken(former, from: was, since: 0, others), exists(former) { return former }
        }
        return isOwn ? namespace : unused(like: namespace)
    }

    /// Records the place of a namespace unless it follows from the namespace itself.
    mutating func keep(_ place: String, for namespace: String) {
        let latest = entries.last { $0.place == place }
        guard latest?.namespace ?? place != namespace else { return }
        entries.removeAll { $0.place == place && $0.namespace == namespace }
        entries.append(Entry(namespace: namespace, place: place))
    }

    /// Returns the latest place recorded for a namespace that no other namespace has taken over since.
    private func kept(by namespace: String, _ others: (String) -> Bool) -> String? {
        entries.indices.last { index in
            entries[index].namespace == namespace
                && !isTaken(entries[index].place, from: namespace, since: index, others)
        }.map { entries[$0].place }
    }

    private func isTaken(_ place: String, from namespace: String, since index: Int, _ others: (String) -> Bool) -> Bool
    {
        entries[index...].contains { $0.place == place && $0.namespace != namespace && others($0.namespace) }
    }

    private func unused(like namespace: String) -> String {
        let taken = Set(entries.map(\.place))
        var number = 2
        while taken.contains("@\(namespace)@\(number)") { number += 1 }
        return "@\(namespace)@\(number)"
    }
}

extension DataFolder {
    /// The path of the file with the places; no component's folder has such a name, because `@` is escaped there.
    private var placesFile: String { FilePath.join(path, "@places.json") }

    /// Reads the places; a folder without such a file has none.
    func places() throws(BackplaneError) -> DataPlaces {
        guard (try? FileStatus(at: placesFile)) != nil else { return DataPlaces() }
        do {
            let bytes = try ManifestFile.read(placesFile, onlyRegular: true)
            return DataPlaces(try JSONDecoder().decode([DataPlaces.Entry].self, from: bytes))
        } catch {
            throw BackplaneError(
                .dataFolderUnusable,
                "the file that lists the folders of renamed data access controllers cannot be read (\(error)); restore it, or remove it and give each of them its `namespace`",
                at: placesFile)
        }
    }

    func write(_ places: DataPlaces) throws(BackplaneError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let bytes = try encoder.encode(places.entries)
            try Self.make(path)
            try FileReplacement.replace(placesFile, with: bytes)
        } catch let error as BackplaneError {
            throw error
        } catch {
            throw BackplaneError(.dataFolderUnusable, "the file cannot be written: \(error)", at: placesFile)
        }
    }

    func hasFolder(named name: String) -> Bool {
        (try? FileStatus(at: FilePath.join(path, Self.escaped(name)))) != nil
    }

    func hasFiles(named name: String) -> Bool {
        !((try? FileTree.names(in: FilePath.join(path, Self.escaped(name)))) ?? []).isEmpty
    }
}
