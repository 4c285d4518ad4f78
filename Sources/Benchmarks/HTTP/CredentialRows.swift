import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import Synchronization

/// The rows of credentials: calls of four plugins that concurrently use an expired token.
struct CredentialRows {
    private static let calls = 1_000
    let folder: String

    var rows: [Row] {
        [false, true].flatMap { swaps in
            let words = swaps ? "expired token, a swap amid 1,000 calls" : "expired token, 1,000 calls"
            return [
                row("\(words): refreshes", .calls, atMost: 1) { try await run(swaps: swaps).refreshes },
                row("\(words): failed calls", .failures, atMost: 0) { try await run(swaps: swaps).failures },
            ]
        }
    }

    private func row(
        _ name: String, _ unit: Row.Unit, atMost bound: Double, _ figure: @escaping @Sendable () async throws -> Int
    ) -> Row {
        Row(
            name: name, unit: unit, target: .median(atMost: bound), summary: .highest, limit: 1, count: 1, rounds: 3
        ) { _ in
            Double(try await figure())
        }
    }

    private struct Outcome {
        var refreshes: Int
        var failures: Int
    }

    /// Makes the calls; the next token is issued once all of them have been refused and the swap is done.
    private func run(swaps: Bool) async throws -> Outcome {
        let server = TokenIssuer(calls: Self.calls)
        let host = PluginHost(
            manifest: manifest(edition: 1),
            plugins: [
                BorrowingPlugin<PluginA>.self, BorrowingPlugin<PluginB>.self, BorrowingPlugin<PluginC>.self,
                BorrowingPlugin<PluginD>.self,
            ],
            options: HostOptions(
                loadFolder: folder + "/load-credentials", dataFolder: folder + "/data-credentials",
                executors: [MemoryExecutor { request, _ in try await server.answer(request) }], occupationLimit: nil))
        try await host.start()
        var managers: [Remote<Borrowing>] = []
        for name in ["A", "B", "C", "D"] { managers.append(try await host.manager(name)) }
        for manager in managers { _ = try await manager.fetch() }
        server.revoke()
        let calls = Task { [managers] in
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<Self.calls {
                    group.addTask { (try? await managers[number % 4].fetch()) == 200 }
                }
                return await group.reduce(0) { failures, isGood in failures + (isGood ? 0 : 1) }
            }
        }
        await server.allRefused()
        do {
            if swaps { try await host.swap([], applying: ManifestDocument(manifest(edition: 2))) }
            server.issue()
        } catch {
            server.issue()
            _ = await calls.value
            await host.stop()
            throw error
        }
        let failures = await calls.value
        await host.stop()
        return Outcome(refreshes: server.issued - 1, failures: failures)
    }

    private func manifest(edition: Int64) -> Manifest {
        let source = TokenSource(signIn: TokenRequest("http://books.test/token"), token: "/token")
        var managers: [String: ManagerDefinition] = [:]
        for name in ["A", "B", "C", "D"] {
            managers[name] = ManagerDefinition(
                className: "Manager\(name)", configuration: name == "A" ? ["edition": .integer(edition)] : [:],
                communicationController: ComponentDefinition(className: "Communication\(name)"))
        }
        return Manifest(
            plugins: [], managers: managers,
            network: NetworkSettings(
                credentials: ["library": Credential(hosts: ["books.test"], .bearer(source))]))
    }
}

/// An in-memory server that issues tokens, the second one only on request.
private final class TokenIssuer: Sendable {
    private struct State {
        var issued = 0
        var revoked = 0
        var refused = 0
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var refusals: CheckedContinuation<Void, Never>?
    }
    private let calls: Int
    private let state = Mutex(State())

    init(calls: Int) { self.calls = calls }

    var issued: Int { state.withLock { $0.issued } }

    /// Refuses the tokens that have been issued so far.
    func revoke() { state.withLock { $0.revoked = $0.issued } }

    /// Waits until all calls have been refused.
    func allRefused() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.refused >= calls { return true }
                state.refusals = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Answers the waiting requests for a token, and later ones immediately.
    func issue() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func answer(_ request: HTTPRequest) async throws -> HTTPStreamedResponse {
        guard request.url.hasSuffix("/token") else { return HTTPStreamedResponse(resource(request)) }
        let number = state.withLock { state in
            state.issued += 1
            return state.issued
        }
        if number > 1 {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }
        return HTTPStreamedResponse(HTTPResponse(status: 200, body: Array(#"{"token": "\#(number)"}"#.utf8)))
    }

    private func resource(_ request: HTTPRequest) -> HTTPResponse {
        let (isGood, done) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            let shown = request.headers["Authorization"]?.dropFirst("Bearer ".count).description
            if shown.flatMap({ Int($0) }).map({ $0 > state.revoked }) == true { return (true, nil) }
            state.refused += 1
            return (false, state.refused >= calls ? state.refusals.take() : nil)
        }
        done?.resume()
        return HTTPResponse(status: isGood ? 200 : 401)
    }
}

/// The contract of the plugins: the status of a request with the credential.
struct Borrowing: Contract {
    static let version: Version = "1.0.0"
    let fetch = AsyncMethod<Nothing, Int>()
}

/// The letter that distinguishes the plugins.
private protocol PluginLetter: SendableMetatype { static var letter: String { get } }
private enum PluginA: PluginLetter { static let letter = "A" }
private enum PluginB: PluginLetter { static let letter = "B" }
private enum PluginC: PluginLetter { static let letter = "C" }
private enum PluginD: PluginLetter { static let letter = "D" }

private struct BorrowingPlugin<Letter: PluginLetter>: Plugin {
    static var id: String { "org.backplane.bench.borrowing-\(Letter.letter)" }
    static var version: Version { "1.0.0" }

    static func register(in registrar: inout Registrar) {
        registrar.add(BorrowingManager<Letter>.self)
        registrar.add(BorrowingCommunication<Letter>.self)
    }
}

private struct BorrowingConfiguration: Decodable, Sendable {
    var edition: Int?
}

private struct BorrowingWires: Wiring {
    let communicationController: Wire<Borrowing>
}

private final class BorrowingManager<Letter: PluginLetter>: Manager {
    typealias Provides = Borrowing
    static var className: String { "Manager\(Letter.letter)" }
    typealias Configuration = BorrowingConfiguration
    typealias Wires = BorrowingWires
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { manager, _, call in try await manager.wires.communicationController.fetch(call) }
    }
}

private final class BorrowingCommunication<Letter: PluginLetter>: CommunicationController {
    typealias Provides = Borrowing
    static var className: String { "Communication\(Letter.letter)" }
    private let http: HTTPClient

    init(_ context: Context) { http = context.http }

    static func methods(_ table: inout Methods) {
        table.async(\.fetch) { communication, _, call in
            var options = HTTPOptions()
            options.credential = "library"
            let request = HTTPRequest("GET", "http://books.test/book")
            return try await communication.http.send(request, call, options).status
        }
    }
}
