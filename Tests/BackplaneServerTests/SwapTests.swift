#if Engines
import BackplaneHummingbird
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

@Suite(.timeLimit(.minutes(5)))
struct `Requests while plugins are swapped` {
    @Test func `a route of the new code answers once the swap has ended, and one of the old code no longer exists`()
        async throws
    {
        try await ServedHost.run { served in
            let client = try served.connect()
            func statuses() async throws -> [Int] {
                [try await client.get("/only-first").status, try await client.get("/only-second").status]
            }
            #expect(try await statuses() == [200, 404])
            try await served.swap(to: 2)
            #expect(try await statuses() == [404, 200])
            try await served.swap(to: 1)
            #expect(try await statuses() == [200, 404])
        }
    }

    @Test func `a request in flight keeps its code, while others already reach the new code`() async throws {
        try await ServedHost.run { served in
            let slow = try served.connect(), other = try served.connect(), go = served.folder.path + "/go"
            async let answer = slow.get("/plain/slow?until=\(go)")
            await eventually { FileContents.exists(go + ".awaited") }
            #expect(try await other.get("/plain/version").text == "first")
            try await served.swap(to: 2)
            #expect(try await other.get("/plain/version").text == "second")
            try served.folder.write(as: "go")
            let text = try await answer.text
            #expect(text == "first")
            #expect(try await slow.get("/plain/version").text == "second")
        }
    }

    @Test func `requests to a component with state wait for those in flight, and reach the new code`() async throws {
        try await ServedHost.run { served in
            let slow = try served.connect(), next = try served.connect(), go = served.folder.path + "/go"
            let gate = try await served.host.gate(of: ServedHost.manager)
            async let answer = slow.get("/slow?until=\(go)")
            await eventually { FileContents.exists(go + ".awaited") }
            async let swap: Void = served.swap(to: 2)
            await eventually { gate.isHeld }
            async let waiting = next.get("/version")
            try served.folder.write(as: "go")
            try await swap
            let (text, version) = (try await answer.text, try ServedHost.Version(await waiting))
            #expect(text == "first")
            #expect(version.edition == "second")
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an event stream continues in the new code, on its connection, with each event once and in order`(
        lanes: LaneRule
    ) async throws {
        try await ServedHost.run(lanes: lanes) { served in
            let client = try served.connect(), head = try await client.open("/changes")
            #expect(head.status == 200)
            #expect(head["content-type"] == "text/event-stream")
            var events = EventLines()
            try await events.read(20, of: "first", from: client)
            var editions = ["first"]
            for swap in 1...Nightly.count(3, night: 200) {
                editions.append(swap.isMultiple(of: 2) ? "first" : "second")
                try await served.swap(to: swap.isMultiple(of: 2) ? 1 : 2)
                try await events.read(20, of: editions[swap], from: client)
            }
            #expect(events.ids == Array(1...events.ids.count))
            #expect(events.editions == editions)
        }
    }

    @Test func `a download that swaps overtake arrives whole`() async throws {
        try await ServedHost.run { served in
            let size = 100_000_000, path = try served.folder.write(as: ServedHost.file)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.truncate(atOffset: UInt64(size))
            for place in stride(from: 0, to: size - 8, by: 999_999) {
                try file.seek(toOffset: UInt64(place))
                try file.write(contentsOf: Data("\(place)".utf8))
            }
            try file.close()
            let client = try ServerConnection(port: served.port, receiving: 64 << 10)
            let head = try await client.open("/download")
            #expect(head.status == 200)
            #expect(head["content-length"] == "\(size)")
            var start: [UInt8] = []
            for swap in 1...Nightly.count(1, night: 199) {
                while start.count < swap * 400_000 { start += try #require(try await client.piece()) }
                try await served.swap(to: swap.isMultiple(of: 2) ? 1 : 2)
            }
            #expect(try await served.connect().get("/only-second").status == 200)
            let answer = try await client.wait { [start] socket in
                var answer = head
                answer.body = start
                return socket.whole(answer)
            }
            #expect(answer.isWhole)
            #expect(try Data(answer.body) == Data(contentsOf: URL(filePath: path)))
            #expect(try await client.get("/only-second").text == "second")
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `bytes that the new code cannot continue end with their connection, and do not look complete`(
        lanes: LaneRule
    ) async throws {
        try await ServedHost.run(lanes: lanes) { served in
            let client = try served.connect(), head = try await client.open("/numbers")
            #expect(head.status == 200)
            #expect(head["transfer-encoding"] == "chunked")
            #expect(try await client.piece()?.starts(with: Array("1\n".utf8)) == true)
            try await served.swap(to: 2)
            let rest = try await client.wait { $0.whole(head) }
            #expect(!rest.isWhole)
            #expect(try await client.hasEnded())
            #expect(try await served.connect().open("/numbers").status == 200)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `of the requests under dozens of swaps none fails, is lost, made twice or answered by the wrong code`(
        lanes: LaneRule
    ) async throws {
        try await ServedHost.run(lanes: lanes) { served in
            let load = RequestLoad(), clients = try (0..<8).map { _ in try served.connect() }, swaps = 20
            async let visits = withThrowingTaskGroup(of: [String].self) { group in
                for client in clients { group.addTask { try await client.wait { load.run(&$0) } } }
                return try await group.reduce([], +)
            }
            do {
                for number in 1...swaps {
                    let answered = load.answered.load(ordering: .relaxed)
                    await eventually {
                        load.answered.load(ordering: .relaxed) >= answered + 2 * clients.count || load.isStopped
                    }
                    load.begun.add(1, ordering: .sequentiallyConsistent)
                    try await served.swap(to: 1 + number % 2)
                    load.ended.add(1, ordering: .sequentiallyConsistent)
                }
            } catch {
                load.stop()
                throw error
            }
            load.stop()
            let mistakes = try await visits
            #expect(mistakes == [])
            let last = try await ServedHost.Version(served.connect().get("/version"))
            #expect(last.handovers == swaps)
            #expect(last.count == load.answered.load(ordering: .relaxed) + 1)
        }
    }
}

/// A host of the plugin with routes that exists in two editions, and its server.
private struct ServedHost: Sendable {
    static let manager = "Served"
    /// The name of the file that `/download` sends.
    static let file = "download"
    let host: PluginHost
    let port: UInt16
    let folder: TestFolder
    private let library: String

    /// The answer of `/version`.
    struct Version: Decodable {
        var edition: String
        var handovers: Int
        var count: Int

        init(_ answer: ServerConnection.Answer) throws {
            self = try JSONDecoder().decode(Self.self, from: Data(answer.body))
        }
    }

    /// Runs a host with the first edition.
    static func run(lanes: LaneRule = .fastest, _ body: (ServedHost) async throws -> Void) async throws {
        let folder = try TestFolder()
        let library = try folder.write(try FixtureLibrary.bytes("Served1"), as: "libServed.so")
        let manifest = Manifest(
            plugins: [PluginReference(library: library)],
            managers: [
                manager: ManagerDefinition(
                    className: "ServedRoutes", configuration: ["file": .string("\(folder.path)/\(file)")]),
                "Plain": ManagerDefinition(className: "PlainRoutes"),
            ])
        try await PluginHost.running(manifest, in: folder.path, executors: [], lanes: lanes) { host in
            try await HostServer.running(host, ServerSettings(listen: "127.0.0.1:0")) { port, _ in
                try await body(ServedHost(host: host, port: port, folder: folder, library: library))
            }
        }
    }

    func connect() throws -> ServerConnection { try ServerConnection(port: port) }

    func swap(to edition: Int) async throws {
        try folder.write(try FixtureLibrary.bytes("Served\(edition)"), as: "libServed.so")
        var options = ChangeOptions.patient
        options.trustsLibraries = true
        #expect(try await host.swap(library: library, options).outcome == .changed)
    }
}

/// The events that a client has received.
private struct EventLines {
    private(set) var ids: [Int] = []
    /// The editions that have sent them, in order.
    private(set) var editions: [String] = []
    private var rest = ""

    /// Reads events until a number of them has come, the last one of an edition.
    mutating func read(_ count: Int, of edition: String, from client: ServerConnection) async throws {
        let end = ids.count + count
        // Events of the earlier edition may still be on their way.
        while ids.count < end || editions.last != edition {
            rest += String(decoding: try #require(try await client.piece(), "the stream has ended"), as: UTF8.self)
            var lines = rest.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
            rest = lines.removeLast()
            for line in lines {
                if line.hasPrefix("id: "), let id = Int(line.dropFirst(4)) { ids.append(id) }
                if line.hasPrefix("data: "), editions.last != String(line.dropFirst(6)) {
                    editions.append(String(line.dropFirst(6)))
                }
            }
        }
    }
}

/// The requests of several clients, and the progress of the swaps by which their answers are checked.
private final class RequestLoad: Sendable {
    let begun = Atomic(0), ended = Atomic(0)
    let answered = Atomic(0)
    private let isOver = Atomic(false)

    var isStopped: Bool { isOver.load(ordering: .relaxed) }
    func stop() { isOver.store(true, ordering: .relaxed) }

    /// Sends one request after the other, and returns what was wrong with the answers.
    func run(_ socket: inout ClientSocket) -> [String] {
        var mistakes: [String] = [], last = 0
        while !isStopped {
            let least = ended.load(ordering: .sequentiallyConsistent)
            socket.send(Array("GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
            guard let answer = socket.answer() else {
                stop()
                return mistakes + ["the connection has ended"]
            }
            let most = begun.load(ordering: .sequentiallyConsistent)
            answered.add(1, ordering: .relaxed)
            guard answer.status == 200, let version = try? ServedHost.Version(answer) else {
                mistakes.append("\(answer.status) \(answer.text)")
                continue
            }
            let isRight = version.edition == (version.handovers % 2 == 0 ? "first" : "second")
            if !isRight || !(least...most).contains(version.handovers) || version.count <= last {
                mistakes.append("\(version) after \(last), in \(least) to \(most) swaps")
            }
            last = version.count
        }
        return mistakes
    }
}
#endif
