import Backplane
import BackplaneRecords
import BackplaneSQLite
import BackplaneTestKit
import Foundation
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
