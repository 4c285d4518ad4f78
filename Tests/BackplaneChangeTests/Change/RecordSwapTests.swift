import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneStorage
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// A data access controller that is swapped for an edition with another schema of its records.
@Suite(.timeLimit(.minutes(5)))
struct RecordSwapTests {
    enum Kind: CaseIterable, Sendable {
        case native, encoded
        case file

        func apply(_ options: inout HostOptions) {
            options.servicesLimit = .seconds(60)
            if self == .file {
                options.openStore = { folder, _, report in try SQLiteRecordStore(folder: folder, report: report) }
                return
            }
            options.openStore = { _, _, _ in MemoryRecordStore() }
        }
    }

    private func withAuthors(_ kind: Kind, _ body: (AuthorHost) async throws -> Void) async throws {
        let host = try await AuthorHost(kind == .encoded ? .encoded : .fastest) { kind.apply(&$0) }
        do {
            try await body(host)
            await host.test.host.stop()
        } catch {
            await host.test.host.stop()
            throw error
        }
    }

    @Test(arguments: Kind.allCases)
    func `the new edition has every record of the old one, and the old one what it can read`(kind: Kind) async throws {
        try await withAuthors(kind) { host in
            for name in ["Jules Verne", "Jane Austen", "Voltaire"] { _ = try await host.authors.add(name) }
            #expect(try await host.authors.families() == ["Austen", "Verne", "Voltaire"])
            try await host.swap(AuthorHost.second)
            _ = try await host.authors.add("Herman Melville")
            #expect(try await host.authors.families() == ["Austen", "Melville", "Verne"])
            let failures = host.test.log.records.filter { $0.message.hasPrefix("a record was not migrated") }
            #expect(failures.count == 1 && failures[0].metadata["error"]?.contains("Voltaire") == true, "\(failures)")

            // Back to the code that does not know the new form: it says so, and nothing is lost.
            try await host.swap(AuthorHost.first)
            #expect(try await host.authors.families() == ["Voltaire"])
            #expect(host.test.log.records.contains { $0.metadata["error"]?.contains("with schema 2") == true })
            _ = try await host.authors.add("Mary Shelley")
            try await host.swap(AuthorHost.second)
            #expect(try await host.authors.families() == ["Austen", "Melville", "Shelley", "Verne"])
        }
    }

    @Test(arguments: Kind.allCases)
    func `a wait for changes holds up no swap, and no blame falls on its component`(kind: Kind) async throws {
        try await withAuthors(kind) { host in
            try await host.swap(AuthorHost.exclusive("1.1.0"))
            let authors = host.authors
            _ = try await authors.add("Jules Verne")
            var stored = authors.stored(AuthorsAfter(number: 0)).makeAsyncIterator()
            #expect(try await stored.next()?.id == "Jules Verne")
            let report = try await host.swap(AuthorHost.exclusive("1.2.0"))
            #expect(report.outcome == .changed && report.warnings == [])
            _ = try await authors.add("Jane Austen")
            #expect(try await stored.next()?.id == "Jane Austen")
        }
    }

    @Test(arguments: Kind.allCases)
    func `records are stored and followed while the editions change, and none is missed`(kind: Kind) async throws {
        try await withAuthors(kind) { host in
            let authors = host.authors, count = 300
            let reading = Task {
                var ids: [String] = []
                for try await author in authors.stored(AuthorsAfter(number: 0)) {
                    ids.append(author.id)
                    if ids.count == count { break }
                }
                return ids
            }
            let writing = Task {
                for number in 0..<count { _ = try await authors.add("Author \(1_000 + number)") }
            }
            for edition in [AuthorHost.second, AuthorHost.first, AuthorHost.second] { try await host.swap(edition) }
            try await writing.value
            try await host.swap(AuthorHost.first)
            try await host.swap(AuthorHost.second)
            #expect(try await reading.value == (0..<count).map { "Author \(1_000 + $0)" })
            #expect(try await authors.families() == (0..<count).map { "\(1_000 + $0)" })
        }
    }
}

/// Authors as both editions of their plugin give them.
struct Authors: Contract {
    static let version: Version = "1.0.0"
    /// Stores an author of a given and a family name.
    let add = AsyncMethod<String, Nothing>()
    /// The family names, in their order.
    let families = AsyncMethod<Nothing, [String]>()
    /// The ids of the authors that are stored after a change, and of those that are stored from then on.
    let stored = StreamMethod<AuthorsAfter, StoredAuthor>()
}

struct StoredAuthor: Codable, Sendable {
    var number: Int64
    var id: String
}

struct AuthorsAfter: Codable, Sendable, Resumable {
    var number: Int64

    func resuming(after last: StoredAuthor) -> AuthorsAfter { AuthorsAfter(number: last.number) }
}

/// An author of the first edition: one name, by which authors are not found.
enum FirstEdition {
    struct Author: Record {
        var id: String
        var name: String
    }
}

/// The store of the first edition, also as one that is swapped behind a gate.
final class FirstAuthorStore<Manner: WorkerTraits>: DataAccessController {
    typealias Provides = Authors
    static var className: String { "AuthorStore" }
    static var isExclusive: Bool { Manner.isExclusive }
    private let authors: RecordCollection<FirstEdition.Author>

    init(_ context: Context) { authors = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { store, name, _ in
            try await store.authors.save(FirstEdition.Author(id: name, name: name))
            return Nothing()
        }
        table.async(\.families) { store, _, _ in
            try await store.authors.all().compactMap { $0.name.split(separator: " ").last.map(String.init) }.sorted()
        }
        table.stream(\.stored) { store, place, elements, _ in
            for try await change in store.authors.changes(since: place.number) where change.kind == .inserted {
                try await elements.send(StoredAuthor(number: change.number, id: change.id))
            }
        }
    }
}

/// The second edition: two names, and an index over one of them.
final class SecondAuthorStore: DataAccessController {
    typealias Provides = Authors
    static var className: String { "AuthorStore" }

    struct Author: Record {
        static let schema = 2
        var id: String
        var given: String
        var family: String
        struct Indexes: RecordIndexes { let family = Indexed<String>("family") }
        struct NoFamily: Error {}

        static func migrated(from old: OldRecord) throws -> Author {
            let author = try old.decode(FirstEdition.Author.self), names = author.name.split(separator: " ")
            guard names.count == 2 else { throw NoFamily() }
            return Author(id: author.id, given: String(names[0]), family: String(names[1]))
        }
    }
    private let authors: RecordCollection<Author>

    init(_ context: Context) { authors = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { store, name, _ in
            let names = name.split(separator: " ").map(String.init)
            try await store.authors.save(Author(id: name, given: names[0], family: names[1]))
            return Nothing()
        }
        table.async(\.families) { store, _, _ in try await store.authors.query(\.family).all().map(\.family) }
        table.stream(\.stored) { store, place, elements, _ in
            for try await change in store.authors.changes(since: place.number) where change.kind == .inserted {
                try await elements.send(StoredAuthor(number: change.number, id: change.id))
            }
        }
    }
}

/// Passes calls and streams on.
final class AuthorManager: Manager {
    typealias Provides = Authors
    struct Wires: Wiring {
        let dataAccessController: Wire<Authors>
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { manager, name, call in
            try await manager.context.wires.dataAccessController.add(name, call)
        }
        table.async(\.families) { manager, _, call in
            try await manager.context.wires.dataAccessController.families(call)
        }
        table.stream(\.stored) { manager, place, elements, call in
            try await elements.send(contentsOf: manager.context.wires.dataAccessController.stored(place, call))
        }
    }
}

/// A host of a manager and its store, whose plugin is swapped.
struct AuthorHost {
    private static let stores = "org.backplane.tests.authors"
    let test: TestHost
    let authors: Remote<Authors>

    static let first = LinkedPlugin(id: stores, version: "1.0.0") { $0.add(FirstAuthorStore<PlainTraits>.self) }
    static func exclusive(_ version: Version) -> LinkedPlugin {
        LinkedPlugin(id: stores, version: version) { $0.add(FirstAuthorStore<ExclusiveWorker>.self) }
    }
    static let second = LinkedPlugin(id: stores, version: "2.0.0") { $0.add(SecondAuthorStore.self) }
    private static let manager = LinkedPlugin(id: "org.backplane.tests.author-manager", version: "1.0.0") {
        $0.add(AuthorManager.self)
    }

    init(_ lanes: LaneRule, _ change: (inout HostOptions) -> Void) async throws {
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {
                "Authors": {"className": "AuthorManager", "dataAccessController": {"className": "AuthorStore"}}}}
            """, linked: [Self.manager, Self.first], lanes: lanes, change)
        authors = try await test.host.manager("Authors")
    }

    @discardableResult
    func swap(_ plugin: LinkedPlugin) async throws(BackplaneError) -> ChangeReport {
        try await test.host.swap(linked: [plugin])
    }
}
