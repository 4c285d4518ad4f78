/// The rooms of a module: the folders below its own, in an order in which each may refer to those before it and to none
/// after it.
struct Rooms {
    let names: [String]

    /// The rooms of `BackplaneHost`: the one place where their order stands.
    static let ofHost = Rooms(names: [
        "Platform",  // what belongs to the operating system, and the log
        "Manifest",  // what the manifest says
        "Planning",  // what it comes to with the components there are
        "Loading",  // the plugins' libraries in this process
        "Calls",  // calls of components, and the gates in their way
        "Services",  // what plugins ask of the host
        "Lifecycle",  // what starts, changes and stops components
        "Swapping",  // what puts new generations in their places
        "Registry",  // the host program's own instances
        "Host",  // the public face
    ])

    /// A reference from one room to a later one.
    struct WrongReference: Hashable, CustomStringConvertible {
        var file: String
        var line: Int
        var symbol: String
        var room: String
        var later: String

        /// "Calls/Gate.swift:3: `LogSink` (Calls → Services)"
        var description: String { "\(file):\(line): `\(symbol)` (\(room) → \(later))" }
    }

    /// The place of a file's room, by the file's path from the module's folder; `nil`: it lies in none.
    func place(of file: String) -> Int? {
        names.firstIndex { file.hasPrefix($0 + "/") }
    }

    /// The references from one room to a later one, in the order of the files. What an extension adds counts where it
    /// is written.
    ///
    /// - Parameter folder: the module's own.
    func wrongReferences(in index: SourceIndex, below folder: String) -> [WrongReference] {
        var definitions: [String: Int] = [:], found: Set<WrongReference> = []
        let files = index.occurrences.map { (path: String($0.key.dropFirst(folder.count + 1)), occurrences: $0.value) }
        for (path, occurrences) in files {
            for occurrence in occurrences where occurrence.isDefinition {
                definitions[occurrence.identifier] = place(of: path)
            }
        }
        for (path, occurrences) in files {
            guard let room = place(of: path) else { continue }
            for occurrence in occurrences where !occurrence.isDefinition {
                guard let later = definitions[occurrence.identifier], later > room else { continue }
                found.insert(
                    WrongReference(
                        file: path, line: occurrence.line, symbol: occurrence.name, room: names[room],
                        later: names[later]))
            }
        }
        return found.sorted { ($0.file, $0.line, $0.symbol) < ($1.file, $1.line, $1.symbol) }
    }
}
