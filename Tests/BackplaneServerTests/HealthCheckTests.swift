#if Engines
import Backplane
import BackplaneHost
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHummingbird

@Suite(.timeLimit(.minutes(5)))
struct `The health check of a server` {
    private struct Health: Decodable {
        struct Manager: Decodable {
            var name, state: String
            var code: String?
        }
        var status: String
        var managers: [Manager]
    }

    /// Runs a server of these managers, some of which do not start, with a health check.
    private func serve(
        _ managers: [String: ManagerDefinition], _ body: (ServerConnection, PluginHost) async throws -> Void
    ) async throws {
        let files = try TestFolder()
        let host = PluginHost(
            manifest: Manifest(plugins: [], managers: managers), plugins: [PatientPlugin.self],
            options: HostOptions(
                loadFolder: files.path + "/loads", dataFolder: files.path + "/data", occupationLimit: nil))
        try await host.start(keepGoing: true)
        let settings = ServerSettings(listen: "127.0.0.1:0", health: "/healthz")
        do {
            try await HostServer.running(host, settings) { port, _ in
                try await body(try ServerConnection(port: port), host)
            }
        } catch {
            await host.stop()
            throw error
        }
        await host.stop()
    }

    private let good = ManagerDefinition(className: "PatientManager")
    private let bad = ManagerDefinition(className: "PatientManager", configuration: ["isIll": true])

    @Test func `it is up if every eager manager is ready`() async throws {
        var lazy = bad
        lazy.activation = .lazy
        try await serve(["Ann": good, "Bob": lazy]) { client, _ in
            let answer = try await client.get("/healthz?now")
            #expect(answer.status == 200)
            #expect(answer["content-type"] == "application/json")
            #expect(answer["cache-control"] == "no-store")
            let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
            #expect(health.status == "up")
            #expect(health.managers.map(\.name) == ["Ann", "Bob"])
            #expect(health.managers.map(\.state) == ["ready", "resolved"])
            let head = try await client.get("/healthz", "HEAD")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(try await client.get("/healthz", "POST").status == 405)
        }
    }

    @Test func `it is down if an eager manager did not start, and says only the code of the reason`() async throws {
        try await serve(["Ann": good, "Bob": bad]) { client, host in
            let answer = try await client.get("/healthz")
            #expect(answer.status == 503)
            #expect(!answer.text.contains("secret"))
            let health = try JSONDecoder().decode(Health.self, from: Data(answer.body))
            #expect(health.status == "down")
            #expect(health.managers.map(\.code) == [nil, "component.failed"])
            try await host.apply(Manifest(plugins: [], managers: ["Ann": good]))
            #expect(try await client.get("/healthz").status == 200)
        }
    }
}

private struct Pulse: Contract {
    static let version: Version = "1.0.0"
    let beat = AsyncMethod<Nothing, Nothing>()
}

private struct PatientPlugin: Plugin {
    static let id = "org.backplane.tests.patient"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(PatientManager.self) }
}

private final class PatientManager: Manager {
    typealias Provides = Pulse
    struct Configuration: Decodable, Sendable {
        var isIll: Bool?
    }
    private struct Illness: ComponentError {
        var code: String { "tests.ill" }
        var message: String { "a secret" }
    }

    init(_ context: Context) throws {
        if context.configuration.isIll == true { throw Illness() }
    }

    static func methods(_ table: inout Methods) { table.async(\.beat) { _, _, _ in Nothing() } }
}
#endif
