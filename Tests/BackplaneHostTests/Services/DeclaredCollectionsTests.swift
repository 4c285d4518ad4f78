import Backplane
import BackplaneRecords
import BackplaneStorage
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The indexes of a collection while several instances declare it, as in a swap.
@Suite(.timeLimit(.minutes(5)))
struct DeclaredCollectionsTests {
    /// The definitions that were applied, each as its collection and the names of its indexes.
    private final class Applied: Sendable {
        let all = Mutex<[String]>([])
        func add(_ definition: CollectionDefinition) {
            all.withLock {
                $0.append(
                    ([definition.name] + definition.indexes.map { $0.name + ($0.isUnique ? "!" : "") })
                        .joined(separator: " "))
            }
        }
    }
    private let declared = DeclaredCollections(), applied = Applied()

    private func define(
        _ owner: UInt64, _ indexes: IndexDefinition..., of name: String = "books", in namespace: String = "A"
    )
        async throws
    {
        try await declared.define(CollectionDefinition(name, indexes: indexes), in: namespace, by: owner) {
            applied.add($0)
        }
    }

    private func end(_ owner: UInt64) async {
        declared.end(owner) { definition, _ in self.applied.add(definition) }
        // Changes are made one after the other, so that this one is the last.
        try? await declared.define(CollectionDefinition("last"), in: "B", by: 99) { _ in }
    }

    @Test func `a collection has the indexes of all its instances, and the latest declaration counts`() async throws {
        try await define(1, IndexDefinition("title"), IndexDefinition("isbn"))
        try await define(2, IndexDefinition("isbn", isUnique: true), IndexDefinition("author"))
        #expect(applied.all.withLock { $0 } == ["books title isbn", "books isbn! author title"])
        await end(1)
        #expect(applied.all.withLock { $0 }.last == "books isbn! author", "the new instance is alone")
    }

    @Test func `a new instance that does not come to serve leaves the indexes of the old one`() async throws {
        try await define(1, IndexDefinition("title"))
        try await define(2, IndexDefinition("author"))
        await end(2)
        #expect(applied.all.withLock { $0 }.last == "books title")
    }

    @Test func `what no instance declares keeps its indexes, and other namespaces are others`() async throws {
        try await define(1, IndexDefinition("title"))
        try await define(2, IndexDefinition("author"), in: "B")
        try await define(3, IndexDefinition("reader"), of: "loans")
        await end(1)
        #expect(applied.all.withLock { $0 } == ["books title", "books author", "loans reader"])
    }

    @Test func `an instance that declares a collection again replaces its declaration`() async throws {
        try await define(1, IndexDefinition("title"))
        try await define(1, IndexDefinition("author"))
        #expect(applied.all.withLock { $0 } == ["books title", "books author"])
    }

    @Test func `an error reaches the instance whose declaration it is, and nobody else`() async throws {
        let failure = BackplaneError(.storeUnusable, "no")
        let error = await error {
            try await declared.define(CollectionDefinition("books"), in: "A", by: 1) { _ throws(BackplaneError) in
                throw failure
            }
        }
        #expect(error == failure)
        try await define(2, IndexDefinition("title"))
        #expect(applied.all.withLock { $0 } == ["books title"])
    }
}
