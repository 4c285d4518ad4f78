import Backplane
import FoundationEssentials

/// The data access controller of the almanac, which stores the last events fetched in a file in its own folder.
actor AlmanacStore: DataAccessController {
    typealias Provides = AlmanacArchive
    private let file: URL

    init(_ context: Context) {
        file = URL(filePath: context.folder, directoryHint: .isDirectory).appending(path: "events.json")
    }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, events, _ in try await store.keep(events) }
        table.async(\.kept) { store, _, _ in try await store.kept() }
    }

    private func keep(_ events: [Event]) throws -> Nothing {
        try JSONEncoder().encode(Kept(events)).write(to: file, options: .atomic)
        return Nothing()
    }

    private func kept() throws -> Kept<[Event]>? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let data = try Data(contentsOf: file)
        do {
            return try JSONDecoder().decode(Kept<[Event]>.self, from: data)
        } catch {
            throw Damaged(file: file.path, reason: "\(error)")
        }
    }

    struct Damaged: ComponentError {
        var file: String, reason: String
        var code: String { "almanac.store-damaged" }
        var message: String { "\(file) does not contain events; remove it: \(reason)" }
    }
}
