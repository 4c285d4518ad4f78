/// What the compiler recorded of source files while it built them: where each symbol is defined, and where it is used.
struct SourceIndex {
    struct Occurrence: Hashable {
        /// Tells the symbol from all others.
        var identifier: String
        /// As it is written; of an accessor, that of its property.
        var name: String
        var line: Int
        var isDefinition: Bool
    }
    /// By the path of the file.
    private(set) var occurrences: [String: [Occurrence]] = [:]

    /// Reads what an index says of the files below a folder that are still there.
    ///
    /// - Throws: ``Toolchain/Missing`` where there is no index, or it does not know one of these files.
    init(at path: String, below folder: String, _ toolchain: Toolchain) throws {
        let library = try IndexLibrary(of: toolchain),
            files = Set(try SourceFolder.files(in: folder).map { "\(folder)/\($0)" })
        guard let store = library.openStore(path, nil), case let names = library.unitNames(in: store), !names.isEmpty
        else {
            throw Toolchain.Missing(
                description:
                    "the compiler has left no index at \(path); only a debug build does, without `--disable-index-store`"
            )
        }
        defer { library.closeStore(store) }
        // A file may have units of earlier builds beside its own.
        var latest: [String: (time: (Int64, Int64), record: String)] = [:]
        for name in names {
            guard let unit = library.openUnit(store, name, nil) else { continue }
            defer { library.closeUnit(unit) }
            let file = library.mainFile(unit).indexText
            guard files.contains(file) else { continue }
            var time: (Int64, Int64) = (0, 0)
            library.timeOfUnit(unit, &time.0, &time.1)
            if let known = latest[file], known.time > time { continue }
            latest[file] = (time, library.record(of: file, in: unit))
        }
        let unknown = files.subtracting(latest.keys).sorted()
        if let first = unknown.first {
            throw Toolchain.Missing(
                description:
                    "the compiler's index at \(path) does not know \(unknown.count) files, \(first) among them; build them"
            )
        }
        for (file, unit) in latest where !unit.record.isEmpty {
            guard let record = library.openRecord(store, unit.record, nil) else {
                throw Toolchain.Missing(
                    description:
                        "the compiler's index at \(path) has lost what it says of \(file); delete that folder and rebuild"
                )
            }
            defer { library.closeRecord(record) }
            occurrences[file] = library.read(record)
        }
    }
}

extension IndexLibrary {
    /// The name of the record with a file's own symbols; empty where it has none.
    fileprivate func record(of file: String, in unit: Object) -> String {
        var name = ""
        forEach(dependencies, of: unit) { dependency in
            guard kindOfDependency(dependency) == Self.recordKind, pathOfDependency(dependency).indexText == file else {
                return
            }
            name = nameOfDependency(dependency).indexText
        }
        return name
    }

    fileprivate func read(_ record: Object) -> [SourceIndex.Occurrence] {
        var found: [SourceIndex.Occurrence] = []
        forEach(occurrences, of: record) { occurrence in
            let roles = roles(occurrence)
            guard roles & (Self.definition | Self.reference) != 0, let symbol = symbol(occurrence) else { return }
            var (line, column): (UInt32, UInt32) = (0, 0)
            place(occurrence, &line, &column)
            found.append(
                SourceIndex.Occurrence(
                    identifier: identifierOfSymbol(symbol).indexText,
                    name: nameOfSymbol(symbol).indexText.withoutAccessor, line: Int(line),
                    isDefinition: roles & Self.definition != 0))
        }
        return found
    }
}

extension String {
    /// "count" of "getter:count".
    fileprivate var withoutAccessor: String {
        let parts = split(separator: ":", maxSplits: 1)
        return parts.count == 2 && !parts[0].contains("(") ? String(parts[1]) : self
    }
}
