import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

/// Plugins in C with credentials: accounts that they share, and a swap while their calls wait for a token.
@Suite(.timeLimit(.minutes(10)))
struct BorrowerTests {
    /// A host of plugins that are libraries of their own, called A, B, C and so on.
    private struct Borrowers {
        let host: PluginHost
        let folder: String

        static func with(
            _ count: Int, _ credential: Credential, _ engine: Engine = .allCases[0],
            _ body: (Borrowers) async throws -> Void
        ) async throws {
            let files = try TestFolder(), folder = files.path
            let names = "ABCD".prefix(count).map(String.init)
            let manifest = Manifest(
                plugins: try names.map { PluginReference(library: try write($0, 1, in: folder)) },
                managers: Dictionary(
                    uniqueKeysWithValues: names.map { name in
                        (
                            name,
                            ManagerDefinition(
                                className: "\(name)Manager",
                                communicationController: ComponentDefinition(
                                    className: "\(name)Communication"))
                        )
                    }), network: NetworkSettings(credentials: ["library": credential]))
            try await PluginHost.running(manifest, in: folder, executors: [engine.executor()]) { host in
                try await body(Borrowers(host: host, folder: folder))
            }
        }

        /// Writes an edition of a plugin, and returns the library's path.
        static func write(_ name: String, _ edition: Int, in folder: String) throws -> String {
            let library = "\(folder)/lib\(name)-\(edition).so"
            let bytes = try FixtureLibrary.bytes(
                id: "org.backplane.tests.\(name)", version: "\(edition).0.0",
                settings: ["BorrowerManager": "\(name)Manager", "BorrowerCommunication": "\(name)Communication"])
            try #require(FileContents.write(bytes, to: library))
            return library
        }

        func ask(_ manager: String, _ method: String, _ input: String = "null") async throws -> String {
            String(decoding: try await host.call(manager, method, Array(input.utf8), host.begin()), as: UTF8.self)
        }
    }

    @Test func `a thousand calls of four plugins cause one refresh, and none fails, with a swap in the middle`()
        async throws
    {
        let count = 1_000, allRefused = ThreadLatch(), isSwapped = ThreadLatch()
        let server = try TokenServer { number in
            if number == 2 { isSwapped.wait() }
            return TokenServer.plainly(number)
        } refused: { refused in
            if refused == count { allRefused.open() }
        }
        let source = TokenSource(
            signIn: TokenRequest(server.url("/token"), .json(["reader": "ann"])), token: "/a/token")
        let url = "\"\(server.url("/book"))\""
        try await Borrowers.with(4, Credential(hosts: [server.host], .bearer(source))) { borrowers in
            for name in ["A", "B", "C", "D"] { #expect(try await borrowers.ask(name, "fetch", url) == "200") }
            #expect(server.seen.issued == 1, "the plugins share the account")
            server.revoke()
            let calls = Task {
                await withTaskGroup(of: String.self) { group in
                    for number in 0..<count {
                        let name = ["A", "B", "C", "D"][number % 4]
                        group.addTask {
                            do { return try await borrowers.ask(name, "fetch", url) } catch { return "\(error)" }
                        }
                    }
                    return await group.reduce(into: [String: Int]()) { counts, answer in counts[answer, default: 0] += 1
                    }
                }
            }
            await allRefused.opened()
            // All calls wait for the token now, a quarter of them in the code that is replaced.
            try await borrowers.host.swap(library: Borrowers.write("A", 2, in: borrowers.folder))
            #expect(try await borrowers.ask("A", "edition") == "2")
            isSwapped.open()
            #expect(await calls.value == ["200": count])
        }
        #expect(server.seen.issued == 2 && server.seen.refused == count && server.seen.served == count + 4)
    }

    @Test func `a plugin in C signs accounts in and out, for all plugins`() async throws {
        let server = try TokenServer { number in
            number == 3 ? ("401 Unauthorized", [], "no") : TokenServer.plainly(number)
        }
        let signIn = TokenRequest(
            server.url("/token"), .form(["reader": .value("reader"), "password": .value("password")]))
        let credential = Credential(
            hosts: [server.host], .bearer(TokenSource(signIn: signIn, token: "/a/token")))
        let url = "\"\(server.url("/book"))\""
        try await Borrowers.with(2, credential) { borrowers in
            func code(_ method: String, _ input: String = "null") async -> BackplaneError.Code? {
                let error = await #expect(throws: BackplaneError.self) { try await borrowers.ask("A", method, input) }
                return error?.code
            }
            #expect(await code("fetchAs", url) == .networkCredential)
            let first = try await borrowers.ask("A", "signIn", "\"white\"")
            #expect(try await borrowers.ask("B", "fetchAs", url) == "200")
            #expect(await code("fetch", url) == .networkCredential, "there is no account without a name")
            let second = try await borrowers.ask("B", "signIn", "\"whale\"")
            #expect(UInt64(first) != nil && UInt64(second) != nil && first != second)
            #expect(await code("signIn", "\"wrong\"") == .networkSignIn)
            #expect(try await borrowers.ask("A", "fetchAs", url) == "401", "a sign-in that fails changes no account")
            #expect(try await borrowers.ask("A", "signOut") == "0")
            #expect(await code("fetchAs", url) == .networkCredential)
        }
        #expect(server.seen.asked.first == "/token password=white&reader=ann")
        #expect(server.seen.issued == 3)
    }
}
