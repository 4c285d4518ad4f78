import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneHost

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
