import Backplane
import FoundationEssentials

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

        private enum CodingKeys: String, CodingKey { case namespace, place }
    }
    /// The entries, the latest last; the later of two entries for one place takes precedence.
    private(set) var entries: [Entry]

    init(_ entries: [Entry] = []) { self.entries = entries }

    /// Returns the place of a namespace.
    ///
    /// - Parameters:
    ///   - was: The namespace that it continues, which counts only as long as it has no place of its own.
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
    /// The path of the file with the places, a name that no component's folder can have because `@` is escaped in
    /// those.
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

    /// Writes the places atomically.
    func write(_ places: DataPlaces) throws(BackplaneError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let bytes = try encoder.encode(places.entries)
            try makeItself()
            try FileReplacement.put(placesFile, with: bytes)
        } catch let error as BackplaneError {
            throw error
        } catch {
            throw BackplaneError(.dataFolderUnusable, "the file cannot be written: \(error)", at: placesFile)
        }
    }

    /// Returns whether a component has had a folder.
    func hasFolder(named name: String) -> Bool {
        (try? FileStatus(at: FilePath.join(path, Self.escaped(name)))) != nil
    }

    /// Returns whether the folder of a component contains anything.
    func hasFiles(named name: String) -> Bool {
        !((try? FileTree.names(in: FilePath.join(path, Self.escaped(name)))) ?? []).isEmpty
    }
}
