import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneExchange

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
                managers["Reader\(index + 1)"] = .lending(key)
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

/// The cookies of a principal (RFC 6265): which are taken, and where they go.
@Suite(.timeLimit(.minutes(5)))
struct CookieTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Returns the `Cookie` of a request after a response to another one.
    private func sent(
        _ fields: [String], from url: String, to other: String, after seconds: Double = 0
    ) -> String? {
        let time = Mutex(Self.now), jar = CookieJar { time.withLock { $0 } }
        var headers: HTTPHeaders = [:]
        for field in fields { headers.add("Set-Cookie", field) }
        jar.receive(headers, to: HTTPRequest("GET", url))
        time.withLock { $0 += seconds }
        return jar.request(HTTPRequest("GET", other)).headers["Cookie"]
    }

    @Test(
        arguments: [
            // The host alone, or those below a domain.
            ("a=1", "http://b.test/", "http://b.test/x", "a=1"), ("a=1", "http://b.test/", "http://c.b.test/", nil),
            ("a=1; Domain=b.test", "http://c.b.test/", "http://d.b.test/", "a=1"),
            ("a=1; Domain=.b.test", "http://b.test/", "http://d.b.test/", "a=1"),
            ("a=1; Domain=b.test", "http://c.b.test/", "http://eb.test/", nil),
            ("a=1; domain=c.test", "http://b.test/", "http://c.test/", nil),
            ("a=1; Domain=c.b.test", "http://b.test/", "http://c.b.test/", nil),
            // A single label is everybody's.
            ("a=1; Domain=test", "http://b.test/", "http://c.test/", nil),
            ("a=1; Domain=test", "http://b.test/", "http://b.test/", nil),
            ("a=1; Domain=localhost", "http://localhost:1/", "http://localhost:2/", "a=1"),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", nil),
            ("a=1", "http://127.0.0.1/", "http://127.0.0.1/", "a=1"),
            // Paths.
            ("a=1; Path=/x", "http://b.test/", "http://b.test/x/y", "a=1"),
            ("a=1; Path=/x", "http://b.test/", "http://b.test/xy", nil),
            ("a=1; Path=/x", "http://b.test/", "http://b.test/x?q", "a=1"),
            ("a=1", "http://b.test/x/y", "http://b.test/x/z", "a=1"),
            ("a=1", "http://b.test/x/y", "http://b.test/", nil),
            ("a=1; Path=x", "http://b.test/", "http://b.test/", "a=1"),
            // Secure connections.
            ("a=1; Secure", "https://b.test/", "https://b.test/", "a=1"),
            ("a=1; secure", "https://b.test/", "http://b.test/", nil),
            ("a=1; Secure", "http://b.test/", "https://b.test/", nil),
            // Prefixes of names.
            ("__Host-a=1; Secure; Path=/", "https://b.test/x/", "https://b.test/", "__Host-a=1"),
            ("__host-a=1; Path=/", "https://b.test/", "https://b.test/", nil),
            ("__Host-a=1; Secure", "https://b.test/", "https://b.test/", nil),
            ("__Host-a=1; Secure; Path=/; Domain=b.test", "https://b.test/", "https://b.test/", nil),
            ("__Secure-a=1; Secure", "https://b.test/", "https://b.test/", "__Secure-a=1"),
            ("__Secure-a=1", "https://b.test/", "https://b.test/", nil),
            // Names and values.
            ("a=1;\tPath=/x", "http://b.test/", "http://b.test/x", "a=1"),
            ("a=1; Domain=bücher.example", "http://c.bücher.example/", "http://xn--bcher-kva.example/", "a=1"),
            ("a=", "http://b.test/", "http://b.test/", "a="),
            (" a = 1 2 ; HttpOnly", "http://b.test/", "http://b.test/", "a=1 2"),
            ("a=b=c", "http://b.test/", "http://b.test/", "a=b=c"), ("a", "http://b.test/", "http://b.test/", nil),
            ("=1", "http://b.test/", "http://b.test/", nil), ("a=1\u{1}", "http://b.test/", "http://b.test/", nil),
            ("a=\(String(repeating: "x", count: 4_096))", "http://b.test/", "http://b.test/", nil),
        ] as [(String, String, String, String?)])
    func `a cookie goes where it may`(field: String, from: String, to: String, expected: String?) {
        #expect(sent([field], from: from, to: to) == expected)
    }

    @Test(
        arguments: [
            ("a=1; Max-Age=10", 9, "a=1"), ("a=1; Max-Age=10", 10, nil), ("a=1; Max-Age=0", 0, nil),
            ("a=1; Expires=Fri, 15 Jan 2027 08:00:10 GMT", 9, "a=1"),
            ("a=1; Expires=Fri, 15 Jan 2027 08:00:10 GMT", 10, nil),
            ("a=1; Max-Age=10; Expires=Fri, 15 Jan 2021 08:00:10 GMT", 9, "a=1"), ("a=1; Max-Age=x", 1e9, "a=1"),
            ("a=1; Expires=tomorrow", 1e9, "a=1"), ("a=1; Max-Age=0x10", 1e9, "a=1"), ("a=1; Max-Age=1e3", 1e9, "a=1"),
            ("a=1; Max-Age=+5", 1e9, "a=1"), ("a=1; Max-Age=1.5", 1e9, "a=1"), ("a=1; Max-Age=nan", 1e9, "a=1"),
            ("a=1; Max-Age=-1", 0, nil), ("a=1; Max-Age=10; Max-Age=x", 10, nil),
            ("a=1; Expires=Fri, 15 Jan 2021 08:00:10 UTC", 0, nil), ("a=1; Expires=15 Jan 2021 08:00:10 +0000", 0, nil),
            ("a=1; Expires=Friday, 15 January 2021 08:00:10 gmt", 0, nil),
            ("a=1; Expires=Fri Jan 15 2021 08:00:10 GMT+0000 (UTC)", 0, nil),
            ("a=1; Expires=Fri, 32 Jan 2021 08:00:10 GMT", 1e9, "a=1"),
        ] as [(String, Double, String?)])
    func `a cookie ends at its time`(field: String, seconds: Double, expected: String?) {
        #expect(sent([field], from: "http://b.test/", to: "http://b.test/", after: seconds) == expected)
    }

    @Test func `a cookie that replaces another keeps its place, and one that ends removes it`() {
        let fields = ["a=1", "b=1", "c=1", "a=2", "b=; Max-Age=0"]
        #expect(sent(fields, from: "http://b.test/", to: "http://b.test/") == "a=2; c=1")
    }

    @Test(arguments: Engine.allCases)
    func `an account has a jar of its own, if the credential says so`(engine: Engine) async throws {
        let server = try TestServer { request, connection in
            let user = request["Authorization"]?.suffix(8) ?? "nobody"
            connection.answer(
                "200 OK", [("Set-Cookie", "seen=\(user)"), ("Set-Cookie", "more=1")],
                body: Array((request["Cookie"] ?? "none").utf8))
        }
        func credential(_ hasCookies: Bool) -> Credential {
            Credential(hosts: ["127.0.0.1"], .basic(Login()), hasCookies: hasCookies)
        }
        let network = HTTPPipeline(
            [engine.executor()], credentials: Credentials(["jar": credential(true), "none": credential(false)]))
        func cookies(_ name: String, _ account: String, own: String? = nil) async throws -> String {
            var options = HTTPOptions(), request = HTTPRequest("GET", server.url())
            (options.credential, options.account) = (name, account)
            request.headers["Cookie"] = own
            let response = try await network.send(request, options)
            #expect((response.headers["Set-Cookie"] == nil) == (name == "jar"), "the jar's cookies are not shown")
            return String(decoding: response.body, as: UTF8.self)
        }
        for name in ["jar", "none"] {
            for account in ["ann", "bob"] {
                try await network.signIn(name, as: account, with: ["user": account, "password": "pw"])
            }
        }
        #expect(try await cookies("jar", "ann") == "none")
        let ann = try await cookies("jar", "ann"), first = try await cookies("jar", "bob")
        #expect(ann.hasPrefix("seen=") && ann.hasSuffix("; more=1") && first == "none")
        #expect(try await cookies("jar", "bob") != ann)
        #expect(try await cookies("jar", "ann", own: "mine=1") == "mine=1")
        _ = try await cookies("none", "ann")
        #expect(try await cookies("none", "ann") == "none")
        try await network.signIn("jar", as: "ann", with: ["user": "ann", "password": "pw"])
        #expect(try await cookies("jar", "ann") == "none", "another sign-in is another principal")
    }
}
