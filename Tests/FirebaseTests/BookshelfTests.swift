import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import BooksOnFirebase
import Bookshelf
import BookshelfContracts
import Firebase
import Foundation
import Synchronization
import TestFixtures
import Testing

/// A plugin with URLSession as an executor.
private struct SessionPlugin: Plugin {
    static let id = "org.backplane.tests.session"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) { registrar.add(SessionExecutor.self) }
}

private final class SessionExecutor: Manager {
    typealias Provides = HTTPExecuting
    static let className = "SessionExecutor"
    private let engine = URLSessionExecutor()

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { session, _, _ in session.engine.capabilities }
        table.stream(\.exchange) { session, order, parts, _ in
            try await parts.send(try await session.engine.open(order.request, order.options))
        }
    }
}

/// The example application with its library in Firebase, from its own manifest.
@Suite(.timeLimit(.minutes(2)))
struct `Bookshelf in Firebase` {
    private static let books = [
        Book(id: "moby-dick", title: "Moby-Dick", authors: [Author(name: "Melville")], year: 1851, language: "en"),
        Book(id: "emma", title: "Emma", authors: [Author(name: "Austen", born: 1775)], year: 1815, language: "en"),
        Book(id: "ulysses", title: "Ulysses", authors: [], year: 1922, language: "en", subjects: ["Dublin"]),
    ]

    /// Runs the application with a catalogue of three books, on two pages, with two covers.
    ///
    /// - Parameter change: Changes the configuration of the service.
    private static func run(
        _ change: (inout [String: ManifestValue], FirebaseAddresses) -> Void = { _, _ in },
        observer: @escaping @Sendable (ExchangeEvent) -> Void = { _ in },
        _ body: (Remote<Library>, FirebaseStandIn) async throws -> Void
    ) async throws {
        let standIn = try FirebaseStandIn(), addresses = standIn.addresses, files = try TestFolder()
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../manifests")
        var text = try String(contentsOf: folder.appending(path: "bookshelf-firebase.json"), encoding: .utf8)
        for (port, address) in [
            ("9000", addresses.database), ("9199", addresses.storage), ("9099", addresses.accounts),
        ] {
            text = text.replacing("127.0.0.1:\(port)", with: address)
        }
        let path = files.path + "/backplane.json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        var manifest = try Manifest(contentsOf: path)
        // The clock is a library in C, which tests do not link.
        (manifest.plugins, manifest.managers["ClockManager"]) = ([], nil)
        var library = try #require(manifest.managers["LibraryManager"])
        library.uses = [:]
        change(&library.communicationController!.services[0].configuration, addresses)
        manifest.managers["LibraryManager"] = library
        manifest.managers["Session"] = ManagerDefinition(className: "SessionExecutor")
        manifest.network.executors["session"] = "Session"
        try await fill(at: addresses)
        let plugins: [any Plugin.Type] = [
            BookshelfPlugin.self, BooksOnFirebasePlugin.self, FirebasePlugin.self, SessionPlugin.self,
        ]
        try await PluginHost.running(
            manifest, plugins, executors: [AsyncHTTPClientExecutor()], { $0.observers = [observer] }
        ) { host in
            try await body(try await host.manager("LibraryManager", as: Library.self), standIn)
        }
    }

    private static func fill(at addresses: FirebaseAddresses) async throws {
        try await FirebaseHost.with(nil, at: addresses) { firebase in
            for (number, books) in [books[0..<2], books[2...]].enumerated() {
                let page = try JSONEncoder().encode(CataloguePage(books: Array(books), pages: 2))
                let path = "firebase://library/catalogue/\(number + 1)"
                try await firebase.load("PUT", path, try DocumentValue(json: page))
            }
            for book in books.prefix(2) { _ = try await firebase.upload([60], to: "covers/\(book.id)") }
        }
    }

    @Test func `loans are kept there, and no book is lent twice`() async throws {
        try await Self.run { library, standIn in
            let call = Call()
            let loan = try await library.borrow("emma", call)
            #expect(loan.book == "emma" && loan.id == "emma")
            let kept = standIn.state.withLock { $0.root["loans"]?["emma"]?["due"] }
            #expect(kept == .string(loan.due.formatted(.iso8601)))
            let taken = await #expect(throws: BackplaneError.self) { try await library.borrow("emma", call) }
            #expect(taken?.failure?.code == "loan.taken")
            _ = try await library.giveBack(loan.id, call)
            #expect(standIn.state.withLock { $0.root["loans"] } == nil)
            let unknown = await #expect(throws: BackplaneError.self) { try await library.giveBack(loan.id, call) }
            #expect(unknown?.failure?.code == "loan.unknown")
            #expect(standIn.tokenRequests.all == ["accounts:signUp"], "the reader signs in once")
            #expect(try await library.search(BookQuery(text: "dublin"), call).value.map(\.id) == ["ulysses"])
        }
    }

    @Test func `a loan whose confirmation was lost is not taken for that of another`() async throws {
        try await Self.run { library, standIn in
            standIn.state.withLock { $0.losesAnswer = true }
            let loan = try await library.borrow("emma", Call())
            #expect(loan.book == "emma" && !standIn.state.withLock { $0.losesAnswer })
            let taken = await #expect(throws: BackplaneError.self) { try await library.borrow("emma", Call()) }
            #expect(taken?.failure?.code == "loan.taken")
        }
    }

    @Test(arguments: [false, true])
    func `the events of loans are those of the path`(isREST: Bool) async throws {
        try await Self.run({ configuration, addresses in
            guard isREST else { return }
            configuration["database"] = .string("http://\(addresses.database)/?ns=library")
            configuration["executors"] = ["loans": "firebase"]
        }) { library, standIn in
            let events = Recording<LibraryEvent>()
            let reader = Task {
                for try await event in library.events(EventsAfter(), Call()) { events.add(event) }
            }
            _ = try await standIn.streams.first(1)
            let loan = try await library.borrow("emma", Call())
            _ = try await events.first(1)
            _ = try await library.giveBack(loan.id, Call())
            let seen = try await events.first(2)
            #expect(seen.map(\.kind) == [.lent, .returned] && seen.map(\.book) == ["emma", "emma"])
            reader.cancel()
        }
    }

    /// Intellex let each request choose between Alamofire, NSURLSession and Firebase.
    ///
    /// Without executors the requests have `firebase:` URLs, and otherwise those of the REST interface, which all three
    /// load.
    @Test(
        arguments: [
            nil, [:], ["catalogue": "session", "covers": "session"], ["catalogue": "firebase", "covers": "firebase"],
            ["catalogue": "session", "covers": "firebase"],
        ] as [[String: String]?])
    func `the same graph runs over all three executors, chosen for each request`(executors: [String: String]?)
        async throws
    {
        let urls = Recording<String>()
        try await Self.run { configuration, addresses in
            guard let executors else { return }
            configuration["database"] = .string("http://\(addresses.database)/?ns=library")
            configuration["storage"] = .string("http://\(addresses.storage)/v0/b/library/o")
            configuration["executors"] = .dictionary(executors.mapValues { .string($0) })
        } observer: { event in
            if event.stage == .start { urls.add(event.url) }
        } _: { library, _ in
            var last: CatalogueProgress?
            for try await step in library.synchronise(Call()) { last = step }
            #expect(last?.step == "report" && last?.total == 3)
            #expect(last?.report == "3 books and 2 covers are stored")
            // The executor for Firebase makes an exchange of its own for each that it carries out.
            for (kind, part) in [("catalogue", "/catalogue/1"), ("covers", "emma")] {
                let isFirebase = executors.map { $0[kind] == "firebase" } ?? true
                #expect(urls.all.count { $0.contains(part) } == (isFirebase ? 2 : 1), "\(urls.all)")
            }
        }
    }
}
