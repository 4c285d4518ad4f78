import Backplane
import BackplaneStorage
import BackplaneTestKit
import TestFixtures

@testable import BackplaneHost

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

/// The first edition: one name, by which authors are not found.
final class FirstAuthorStore: DataAccessController {
    typealias Provides = Authors
    static var className: String { "AuthorStore" }

    struct Author: Record {
        var id: String
        var name: String
    }
    private let authors: RecordCollection<Author>

    init(_ context: Context) { authors = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { store, name, _ in
            try await store.authors.save(Author(id: name, name: name))
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

/// The first edition as one that is swapped behind a gate.
final class ExclusiveAuthorStore: DataAccessController {
    typealias Provides = Authors
    static var className: String { "AuthorStore" }
    static let isExclusive = true
    private let authors: RecordCollection<FirstAuthorStore.Author>

    init(_ context: Context) { authors = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { store, name, _ in
            try await store.authors.save(FirstAuthorStore.Author(id: name, name: name))
            return Nothing()
        }
        table.async(\.families) { store, _, _ in try await store.authors.all().map(\.name) }
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
            let author = try old.decode(FirstAuthorStore.Author.self), names = author.name.split(separator: " ")
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

    static let first = LinkedPlugin(id: stores, version: "1.0.0") { $0.add(FirstAuthorStore.self) }
    static func exclusive(_ version: Version) -> LinkedPlugin {
        LinkedPlugin(id: stores, version: version) { $0.add(ExclusiveAuthorStore.self) }
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
        let coordinator = test.host.coordinator
        return try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: [plugin], .patient)
        }
    }
}
