import Backplane
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

/// Credentials of a manifest in a host: what plugins share, what survives, and what is kept.
@Suite(.timeLimit(.minutes(10)))
struct AccountTests {
    /// A host of several components that lend their contexts.
    private struct Lender {
        let host: PluginHost
        let keys: [String]
        let contexts: [LendingCommunication.Context]

        func manifest(_ credentials: [String: Credential]) -> Manifest { Lender.manifest(credentials, keys) }

        private static func manifest(_ credentials: [String: Credential], _ keys: [String]) -> Manifest {
            var managers: [String: ManagerDefinition] = [:]
            for (index, key) in keys.enumerated() {
                managers["Reader\(index + 1)"] = ManagerDefinition(
                    className: "LendingManager",
                    communicationController: ComponentDefinition(
                        className: "LendingCommunication", configuration: ["key": .string(key)]))
            }
            return Manifest(plugins: [], managers: managers, network: NetworkSettings(credentials: credentials))
        }

        static func with(
            _ credentials: [String: Credential], readers: Int = 1, in folder: String? = nil,
            _ body: (Lender) async throws -> Void
        ) async throws {
            let keys = (0..<readers).map { _ in UUID().uuidString }
            try await PluginHost.running(
                manifest(credentials, keys), [LendingPlugin.self], in: folder,
                executors: [Engine.allCases[0].executor()]
            ) { host in
                let contexts = try keys.map(LendingCommunication.context)
                try await body(Lender(host: host, keys: keys, contexts: contexts))
            }
        }
    }

    private static func options(_ account: String? = nil) -> HTTPOptions {
        var options = HTTPOptions()
        (options.credential, options.account) = ("library", account)
        return options
    }

    private func source(_ server: TokenServer, keep: Bool = false) -> TokenSource {
        TokenSource(
            signIn: TokenRequest(
                server.url("/token/sign-in"), .json(["reader": .value("reader"), "password": .value("password")])),
            refresh: TokenRequest(server.url("/token/refresh"), .json(["with": .value("refreshToken")])),
            token: "/a/token", refreshToken: "/refresh", isKept: keep)
    }

    private func own(_ server: TokenServer) -> TokenSource {
        TokenSource(signIn: TokenRequest(server.url("/token"), .json(["reader": "ann"])), token: "/a/token")
    }

    @Test func `an account survives another manifest with the same credential, and not one with another`() async throws
    {
        let server = try TokenServer()
        let credential = Credential(hosts: [server.host], .bearer(source(server)))
        try await Lender.with(["library": credential]) { lender in
            let context = lender.contexts[0], request = HTTPRequest("GET", server.url("/book"))
            func status() async throws -> Int {
                try await context.http.send(request, context.begin(), Self.options("ann")).status
            }
            let principal = try await context.http.signIn(
                "library", as: "ann", with: ["reader": "ann", "password": "white"], context.begin())
            #expect(principal != 0)
            #expect(try await status() == 200)
            let more = ["library": credential, "other": Credential(hosts: ["a.test"], .basic(Login()))]
            try await lender.host.apply(lender.manifest(more))
            #expect(try await status() == 200)
            var changed = credential
            changed.hosts.append("b.test")
            try await lender.host.apply(lender.manifest(["library": changed]))
            let error = await #expect(throws: BackplaneError.self) { try await status() }
            #expect(error?.code == .networkCredential)
        }
        #expect(server.seen.asked == [#"/token/sign-in {"password":"white","reader":"ann"}"#])
    }

    @Test func `a component uses the credentials that it was given, and no others`() async throws {
        let server = try TokenServer()
        let credential = Credential(hosts: [server.host], .bearer(own(server)), managers: ["Reader1"])
        try await Lender.with(["library": credential], readers: 2) { lender in
            let request = HTTPRequest("GET", server.url("/book")),
                (first, second) = (lender.contexts[0], lender.contexts[1])
            let allowed = try await first.http.send(request, first.begin(), Self.options())
            #expect(allowed.status == 200)
            let refusals = [
                await #expect(throws: BackplaneError.self) {
                    try await second.http.send(request, second.begin(), Self.options())
                },
                await #expect(throws: BackplaneError.self) {
                    try await second.http.signIn("library", as: "x", with: [:], second.begin())
                },
                #expect(throws: BackplaneError.self) { try second.http.signOut("library", account: "") },
            ]
            for error in refusals {
                #expect(error?.code == .networkCredential)
                #expect(
                    error?.message
                        == "the credential `library` is not for components of Reader2; name the manager in its `managers`"
                )
            }
            let unknown = await #expect(throws: BackplaneError.self) {
                try await first.http.signIn("libary", as: "x", with: [:], first.begin())
            }
            #expect(unknown?.message == "there is no credential `libary`; known: `library`")
        }
    }

    @Test func `tokens are kept across restarts only if asked, and only their owner may read them`() async throws {
        let server = try TokenServer()
        for keep in [false, true] {
            let place = try TestFolder(), folder = place.path
            let credential = Credential(hosts: [server.host], .bearer(source(server, keep: keep)))
            let request = HTTPRequest("GET", server.url("/book")), principal = Mutex<UInt64>(0)
            try await Lender.with(["library": credential], in: folder) { lender in
                let context = lender.contexts[0]
                let minted = try await context.http.signIn(
                    "library", as: "ann/../é", with: ["reader": "planted-reader", "password": "planted-password"],
                    context.begin())
                principal.withLock { $0 = minted }
            }
            let files = try Self.files(below: folder + "/data", containing: "credentials")
            #expect(files.count == (keep ? 1 : 0), "\(files)")
            for file in files {
                let attributes = try FileManager.default.attributesOfItem(atPath: file)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
                let text = try String(contentsOfFile: file, encoding: .utf8)
                #expect(text.contains("token-") && !text.contains("planted"), "the values of a sign-in are not kept")
            }
            let asked = server.seen.issued
            try await Lender.with(["library": credential], in: folder) { lender in
                let context = lender.contexts[0]
                func send() async throws -> Int {
                    try await context.http.send(request, context.begin(), Self.options("ann/../é")).status
                }
                guard keep else {
                    let error = await #expect(throws: BackplaneError.self) { try await send() }
                    #expect(error?.code == .networkCredential)
                    return
                }
                #expect(try await send() == 200)
                #expect(server.seen.issued == asked, "no one had to sign in")
                server.revoke()
                _ = try await send()
                #expect(server.seen.asked.last == #"/token/refresh {"with":"refresh-\#(asked)"}"#)
                try context.http.signOut("library", account: "ann/../é")
            }
            #expect(try Self.files(below: folder + "/data", containing: "credentials") == [])
        }
    }

    private static func files(below folder: String, containing name: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder).map { folder + "/" + $0 }.filter { path in
            var isFolder: ObjCBool = false
            return path.contains(name) && FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }
}
