import Backplane
import BackplaneControl
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Glibc
import Synchronization
import Testing

@testable import BackplaneExchange
@testable import BackplaneHost

/// Secrets that are planted in a manifest, in sign-ins and in answers of servers, and then searched for wherever a host
/// or a program shows something.
@Suite(.timeLimit(.minutes(10)))
struct PlantedSecretTests {
    /// The part that all planted secrets have in common, also when they are encoded.
    private static let mark = "planted"
    private static func secret(_ name: String) -> String { "\(mark)-\(name)" }

    /// Everything that was shown, with the place where.
    struct Shown {
        /// The part that the secrets have in common.
        var mark = PlantedSecretTests.mark
        private(set) var found: [String] = []
        private(set) var places = 0

        /// Looks for secrets in a text, also for those in base64 and in percent-encoding.
        mutating func look(_ place: String, _ text: String) {
            places += 1
            let words = text.split { !($0.isLetter || $0.isNumber || "+/=".contains($0)) }
            let decoded = words.compactMap { Data(base64Encoded: String($0)) }.map {
                String(decoding: $0, as: UTF8.self)
            }
            for text in [text] + decoded where text.lowercased().contains(mark.lowercased()) {
                found.append("\(place): \(text.prefix(200))")
            }
        }

        /// Looks for secrets in all the ways in which Swift shows a value.
        mutating func look(_ place: String, at value: some Any) {
            look(place, "\(value)")
            look("\(place), reflecting", String(reflecting: value))
            var dumped = ""
            dump(value, to: &dumped)
            look("\(place), dumped", dumped)
        }
    }

    private func credentials(_ server: TokenServer) -> [String: Credential] {
        func credential(_ scheme: Credential.Scheme) -> Credential { Credential(hosts: [server.host], scheme) }
        let signIn = TokenRequest(
            server.url("/token/sign-in?key=\(Self.secret("query"))"),
            .json([
                "reader": "ann", "password": .text(Secret(Self.secret("sign-in"))),
                "more": .array([
                    .object(["deep": .text(Secret(Self.secret("deep")))]), .literal(.string(Self.secret("literal"))),
                ]),
            ]), headers: ["X-Key": .text(Secret(Self.secret("header")))])
        let login = Login(user: "ann", password: Secret(Self.secret("password")))
        return [
            "basic": credential(.basic(login)), "digest": credential(.digest(login)),
            "fixed": credential(.bearer(TokenSource(secret: Secret(Self.secret("fixed"))))),
            "bearer": credential(
                .bearer(
                    TokenSource(
                        signIn: signIn,
                        refresh: TokenRequest(
                            server.url("/token/refresh"),
                            .form(["with": .value("refreshToken"), "key": .text(Secret(Self.secret("refresh-key")))])),
                        token: "/a/token", refreshToken: "/refresh"))),
            "values": credential(
                .bearer(
                    TokenSource(
                        signIn: TokenRequest(server.url("/token/values"), .form(["password": .value("password")])),
                        token: "/a/token", isKept: true))),
        ]
    }

    /// A server whose tokens and error bodies are secrets, too.
    private func server() throws -> TokenServer {
        try TokenServer { number in
            number % 3 == 0
                ? ("403 Forbidden", [], "no, \(Self.secret("error-body"))")
                : (
                    "200 OK", [],
                    #"{"a": {"token": "\#(Self.secret("token"))-\#(number)"}, "refresh": "\#(Self.secret("refresh"))"}"#
                )
        }
    }

    @Test func `values of the network show no secrets, however they are printed`() throws {
        let server = try server(), credentials = credentials(server)
        let settings = NetworkSettings(credentials: credentials)
        let manifest = Manifest(managers: [:], network: settings)
        var shown = Shown()
        shown.look("manifest", at: manifest)
        shown.look("settings", at: settings)
        shown.look("document", at: ManifestDocument(manifest))
        for (name, credential) in credentials {
            shown.look(name, at: credential)
            shown.look("\(name)'s scheme", at: credential.scheme)
            guard case .bearer(let source) = credential.scheme else { continue }
            shown.look("\(name)'s source", at: source)
            for request in [source.signIn, source.refresh].compactMap(\.self) {
                shown.look("\(name)'s request", at: request)
                shown.look("\(name)'s content", at: request.content)
            }
        }
        shown.look("login", at: Login(user: "ann", password: Secret(Self.secret("password"))))
        shown.look("pipeline", at: HTTPPipeline([], credentials: Credentials(credentials)))
        #expect(shown.found == [] && shown.places > 60, "\(shown.found)")
    }

    @Test(arguments: Engine.allCases)
    func `a host shows no secrets in errors, logs, events, answers and files`(engine: Engine) async throws {
        let server = try server(), log = TestLog(), credentials = credentials(server)
        let files = try TestFolder(), folder = files.path
        let key = UUID().uuidString
        var manifest = LendingPlugin.manifest(of: key)
        manifest.network.credentials = credentials
        let options = HostOptions(
            loadFolder: folder + "/loads", dataFolder: folder + "/data", log: log, executors: [engine.executor()],
            occupationLimit: nil)
        let host = PluginHost(manifest: manifest, plugins: [LendingPlugin.self], options: options)
        var shown = Shown()
        let events = Task { [events = host.events] in
            var texts: [String] = []
            for await event in events { texts.append("\(event)") }
            return texts
        }
        try await host.start()
        let control = try ControlSocket(serving: host, at: folder + "/control")
        let context = try LendingCommunication.context(key)

        // Exchanges that succeed, are refused, fail at the sign-in, and fail altogether.
        let traced = context.begin(), trace = host.exchanges(of: traced.trace)
        for name in credentials.keys.sorted() + ["bearer", "bearer", "bearer"] {
            for url in [server.url("/book?key=\(Self.secret("query"))"), "http://127.0.0.1:1/"] {
                var options = HTTPOptions()
                (options.credential, options.redirects) = (name, 3)
                let request = HTTPRequest("GET", url)
                do {
                    let response = try await context.http.send(request, traced, options)
                    shown.look("response of \(name)", at: response.headers)
                } catch {
                    shown.look("error of \(name)", at: error)
                    shown.look("error of \(name), expanded", error.expandedDescription)
                }
                shown.look("curl", request.curlDescription)
            }
        }
        let values = ["password": Self.secret("value")]
        for _ in 1...3 {
            do {
                let principal = try await context.http.signIn("values", as: "ann", with: values, context.begin())
                shown.look("principal", at: principal)
            } catch {
                shown.look("error of a sign-in", at: error)
                shown.look("error of a sign-in, expanded", error.expandedDescription)
            }
        }
        for wrong in [["pasword": Self.secret("value")], [:]] {
            let error = await #expect(throws: BackplaneError.self) {
                try await context.http.signIn("values", as: "bob", with: wrong, context.begin())
            }
            shown.look("error of wrong values", at: error as Any)
        }
        #expect(server.seen.shown.contains { $0.contains(Self.mark) }, "the servers have had secrets")
        #expect(server.seen.asked.contains { $0.contains(Self.secret("value")) })

        for event in trace?.take() ?? [] { shown.look("trace", at: event) }
        for request in ["hello", "statistics", "generations", "events"] {
            shown.look("control, \(request)", Self.ask(control.path, #"{"protocol":1,"request":"\#(request)"}"#))
        }
        for operation in ["list", "sign-in", "sign-out"] {
            let line =
                #"{"protocol":1,"request":"credentials","operation":"\#(operation)","credential":"values","account":"eve","values":{"pasword":"\#(Self.secret("control"))"}}"#
            shown.look("control, credentials \(operation)", Self.ask(control.path, line))
        }
        shown.look("network", at: host.network)
        shown.look("managers", at: await host.managers)
        shown.look("wires", at: await host.wires)
        shown.look("problems", at: await host.check())
        control.close()
        await host.stop()
        for text in await events.value { shown.look("event", text) }
        #expect(log.records.contains { $0.message == "exchange ended" })
        for record in log.records { shown.look("log", at: record) }

        // What is kept is in one file that only its owner may read, and the values of a sign-in are not in it.
        var kept: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            guard let bytes = FileManager.default.contents(atPath: folder + "/" + path) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            guard path.contains("@credentials/") else {
                shown.look(path, text)
                continue
            }
            kept.append(path)
            #expect(text.contains(Self.secret("token")) && !text.contains(Self.secret("value")))
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(kept.count == 1, "\(kept)")
        #expect(shown.found == [] && shown.places > 80, "\(shown.found)")
    }

    /// Sends a line to a control socket, and returns the first lines of the answer.
    private static func ask(_ path: String, _ line: String) -> String {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un(), limit = timeval(tv_sec: 2, tv_usec: 0)
        address.sun_family = sa_family_t(AF_UNIX)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(100)) }
        let isConnected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(isConnected == 0)
        let bytes = Array(line.utf8) + [10]
        #expect(send(socket, bytes, bytes.count, 0) == bytes.count)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &buffer, buffer.count, 0)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

/// Secrets that a component has worked with, searched for in the state that a swap takes from it.
@Suite(.timeLimit(.minutes(5)))
struct ExportedSecretTests {
    /// Returns what a swap hands to the new code, after the old code has noted all that it was shown.
    private func shown(mark: String, encodesState: Bool) async throws -> PlantedSecretTests.Shown {
        let secret = "\(mark)-secret", key = UUID().uuidString
        let executor = MemoryExecutor { request, _ in
            let token = #"{"token": "\#(secret)", "refresh": "\#(secret)"}"#
            if request.url.contains("/token") { return .init(HTTPResponse(status: 200, body: Array(token.utf8))) }
            if request.url.contains("/refused") { throw BackplaneError(.networkFailed, "no") }
            return .init(HTTPResponse(status: 200, headers: ["Set-Cookie": "id=\(secret)"]))
        }
        func credential(_ scheme: Credential.Scheme) -> Credential {
            Credential(hosts: ["a.test"], scheme, hasCookies: true)
        }
        let signIn = TokenRequest(
            "http://a.test/token?key=\(secret)", .form(["password": .value("password"), "key": .text(Secret(secret))]))
        let failing = TokenRequest("http://a.test/refused?key=\(secret)", .json(["key": .text(Secret(secret))]))
        let manifest = Manifest(
            managers: [
                "SecretState": ManagerDefinition(
                    className: "SecretStateManager",
                    communicationController: ComponentDefinition(
                        className: "SecretStateCommunication", configuration: ["key": .string(key)]))
            ],
            network: NetworkSettings(credentials: [
                "basic": credential(.basic(Login(user: "ann", password: Secret(secret)))),
                "fixed": credential(.bearer(TokenSource(secret: Secret(secret)))),
                "values": credential(.bearer(TokenSource(signIn: signIn, token: "/token", refreshToken: "/refresh"))),
                "failing": credential(.bearer(TokenSource(signIn: failing, token: "/token"))),
            ]))
        let files = try TestFolder(), folder = files.path
        let host = PluginHost(
            manifest: manifest, plugins: [SecretStatePlugin.self],
            options: HostOptions(
                loadFolder: folder + "/loads", dataFolder: folder + "/data", executors: [executor],
                occupationLimit: nil))
        try await host.start()
        let recorder = try #require(SecretStateCommunication.latest(key)), http = recorder.context.http
        let call = recorder.context.begin()
        recorder.note(
            try await http.signIn("values", as: "ann", with: ["password": secret], call), "the principal of a sign-in")
        let attempts: [(String, String?)] = [
            ("basic", nil), ("fixed", nil), ("values", "ann"), ("failing", nil), ("none", nil),
        ]
        for (name, account) in attempts {
            var options = HTTPOptions()
            (options.credential, options.account) = (name, account)
            let request = HTTPRequest("GET", "http://a.test/book")
            do { recorder.note(try await http.send(request, call, options), name) } catch {
                recorder.note(error, name)
                recorder.note(error.expandedDescription, name)
            }
        }
        recorder.note(recorder.context, "context")
        let coordinator = host.coordinator, later = SecretStatePlugin.later
        _ = try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
            try await coordinator.swap(linked: [later], ChangeOptions(encodesState: encodesState))
        }
        let successor = try #require(SecretStateCommunication.latest(key))
        #expect(successor !== recorder)
        var shown = PlantedSecretTests.Shown(mark: mark)
        for note in successor.notes { shown.look("state", note) }
        shown.look("state as JSON", String(decoding: try JSONEncoder().encode(successor.exportState()), as: UTF8.self))
        await host.stop()
        return shown
    }

    @Test(arguments: [true, false])
    func `a state that a swap carries over has none of the secrets of exchanges`(encodesState: Bool) async throws {
        let shown = try await shown(mark: "planted-state-\(encodesState)", encodesState: encodesState)
        #expect(shown.found == [] && shown.places > 20, "\(shown.found)")
    }

}

/// A plugin whose communication controller has a state that consists of all that it was shown.
private struct SecretStatePlugin: Plugin {
    static let id = "org.backplane.tests.secret-state"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(SecretStateManager.self)
        registrar.add(SecretStateCommunication.self)
    }

    /// The next version of the plugin.
    static var later: LinkedPlugin { LinkedPlugin(id: id, version: "2.0.0") { register(in: &$0) } }
}

private final class SecretStateManager: Manager {
    static let className = "SecretStateManager"
    struct Wires: Wiring {
        let communicationController: Wire<Lending>
    }

    init(_ context: Context) {}
}

private final class SecretStateCommunication: CommunicationController, StatefulComponent {
    typealias Provides = Lending
    static let className = "SecretStateCommunication"
    struct Configuration: Codable, Sendable {
        var key: String
    }
    struct State: Codable, Sendable {
        var notes: [String]
    }
    private static let instances = Mutex<[String: SecretStateCommunication]>([:])
    let context: Context
    private let state = Mutex(State(notes: []))

    init(_ context: Context) {
        self.context = context
        let own = self
        Self.instances.withLock { $0[context.configuration.key] = own }
    }

    static func methods(_ table: inout Methods) {
        table.sync(\.nothing) { _, _, _ in Nothing() }
    }

    /// The last instance with a key.
    static func latest(_ key: String) -> SecretStateCommunication? { instances.withLock { $0[key] } }

    var notes: [String] { state.withLock { $0.notes } }

    /// Notes a value in all the ways in which Swift shows it.
    func note(_ value: some Any, _ place: String) {
        var dumped = ""
        dump(value, to: &dumped)
        let notes = ["\(value)", String(reflecting: value), dumped].map { "\(place): \($0)" }
        state.withLock { $0.notes += notes }
    }

    func exportState() -> State { state.withLock(\.self) }
    func importState(_ state: State) { self.state.withLock { $0 = state } }
}
