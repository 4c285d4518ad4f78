#if Engines
import Backplane
import BackplaneHost
import BackplaneTestKit
import Foundation
import Hummingbird
import Logging
import TestFixtures
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `Answers in pieces` {
    private static let lanes: [LaneRule] = [.fastest, .encoded]

    @Test(arguments: lanes)
    func `pieces are sent as they come, and the connection goes on`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            for _ in 0..<2 {
                let answer = try await client.get("/numbers")
                #expect(answer.status == 200 && answer.isWhole && answer.text == "1\n2\n3\n")
                #expect(answer["transfer-encoding"] == "chunked" && answer["content-type"] == "text/plain")
            }
            let long = try await client.get("/numbers?count=5000")
            #expect(long.text == (1...5_000).map { "\($0)\n" }.joined())
            let problem = try await client.get("/numbers?count=x")
            #expect(problem.status == 400 && problem["content-type"] == "application/problem+json")
        }
    }

    @Test(arguments: lanes)
    func `the first piece arrives before the last one exists`(lanes: LaneRule) async throws {
        let name = UUID().uuidString
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect(), head = try await client.open("/held/\(name)")
            #expect(try await client.piece() == Array("1\n".utf8))
            Shared.gate(name).open()
            #expect(try await client.wait { $0.whole(head) }.text == "2\n")
        }
    }

    @Test(arguments: lanes)
    func `an error before the head is an answer, and one after it ends the connection`(lanes: LaneRule) async throws {
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            #expect(try await client.get("/refused").status == 500)
            let broken = try await client.get("/broken")
            #expect(broken.status == 200 && !broken.isWhole && broken.text == "1\n")
            #expect(try await client.hasEnded())
            let record = try await served.host.log.first { $0.metadata["route"] == "GET /broken" }
            #expect(record.level == .error && record.metadata["error"]?.contains("planted") == true)
        }
    }

    @Test(arguments: lanes)
    func `events are lines, and comments while there are none`(lanes: LaneRule) async throws {
        let name = UUID().uuidString
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect(), head = try await client.open("/events/\(name)")
            #expect(head.status == 200)
            #expect(head["content-type"] == "text/event-stream" && head["cache-control"] == "no-store")
            #expect(try await client.piece() == Array("id: 1\ndata: a\n\n".utf8))
            for _ in 0..<2 {
                try await served.host.clock.expire(PartSender.patience)
                #expect(try await client.piece() == Array(":\n\n".utf8))
            }
            Shared.gate(name).open()
            let rest = try await client.wait { $0.whole(head) }
            #expect(rest.isWhole && rest.text == "event: last\nid: 2\ndata: b\ndata: c\n\n")
            let again = try await client.send("GET", "/events/\(name)", ["Last-Event-ID": "7"])
            #expect(again.text.hasPrefix("id: 8\ndata: a\n\n"))
        }
    }

    @Test(arguments: lanes)
    func `a client that leaves ends its stream`(lanes: LaneRule) async throws {
        let bytes = UUID().uuidString, events = UUID().uuidString
        try await RoutedHost.run(lanes: lanes) { served in
            let client = try served.connect()
            #expect(try await client.open("/endless/\(bytes)").status == 200)
            #expect(try await client.piece() != nil)
            try await client.close()
            _ = try await Shared.notes.first { $0 == "\(bytes) has ended" }

            let listener = try served.connect()
            #expect(try await listener.open("/events/\(events)").status == 200)
            #expect(try await listener.piece() != nil)
            try await listener.close()
            await eventually {
                served.host.clock.advance(by: PartSender.patience)
                return Shared.notes.all.contains("\(events) has ended")
            }
        }
    }

    @Test(arguments: lanes)
    func `a stop ends events, and bytes with their connection`(lanes: LaneRule) async throws {
        let name = UUID().uuidString, clients = Recording<(ServerConnection, ServerConnection.Answer)>()
        try await RoutedHost.run(lanes: lanes) { served in
            for path in ["/events/\(name)", "/held/\(name)"] {
                let client = try served.connect()
                clients.add((client, try await client.open(path)))
                #expect(try await client.piece() != nil)
            }
        }
        let endings = try await clients.all.concurrent { client, head in try await client.wait { $0.whole(head) } }
        #expect(endings.map(\.isWhole) == [true, false])
        #expect(endings.map(\.text) == ["", ""])
    }

    // MARK: The observer

    private struct Observed: HTTPResponder {
        typealias Context = BasicRequestContext
        let server: RouteServer

        func respond(to request: Request, context: Context) async throws -> Response {
            await server.respond(to: request, remoteAddress: nil)
        }
    }

    @Test func `an observer is told of every answer when it has ended`() async throws {
        let name = UUID().uuidString, folder = try TestFolder(), file = try folder.write([65], as: "a")
        let ended = Recording<String>(), silent = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let manifest = Manifest(managers: ["Desk": ManagerDefinition(className: "DeskRoutes")])
        try await TestHost.run(manifest, plugins: [DeskPlugin.self]) { host in
            let server = RouteServer(
                host.host, mounting: .manifest, limits: .patient,
                observer: { manager, route, status, time in
                    ended.add("\(manager) \(route) \(status) \(time >= .zero)")
                }, logger: silent)
            try await RoutedApplication.run(Observed(server: server)) { port in
                let client = try ServerConnection(port: port), leaving = try ServerConnection(port: port)
                _ = try await client.get("/books/7")
                _ = try await client.get("/failure")
                _ = try await client.get("/numbers")
                _ = try await client.get("/file?path=\(file)")
                _ = try await client.send("HEAD", "/file?path=\(file)")
                _ = try await client.send("GET", "/file?path=\(file)", ["Range": "bytes=1-"])
                #expect(try await client.get("/nothing").status == 404)
                _ = try await leaving.open("/endless/\(name)")
                try await leaving.close()
                _ = try await ended.first(7)
            }
        }
        #expect(
            ended.all == [
                "Desk GET /books/:id 200 true", "Desk GET /failure 500 true", "Desk GET /numbers 200 true",
                "Desk GET /file 200 true", "Desk GET /file 200 true", "Desk GET /file 416 true",
                "Desk GET /endless/:name 0 true",
            ])
    }
}

extension Sequence where Element: Sendable {
    /// Returns the results of a function for each element, in order.
    fileprivate func concurrent<Result: Sendable>(
        _ body: @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        let tasks = map { element in Task { try await body(element) } }
        var results: [Result] = []
        for task in tasks { results.append(try await task.value) }
        return results
    }
}
#endif
