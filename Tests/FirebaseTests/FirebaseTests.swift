import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import Firebase

/// The executor for Firebase, with the stand-in, or with the emulator suite whose hub is at `BACKPLANE_FIREBASE`.
@Suite(.timeLimit(.minutes(5)))
struct FirebaseTests {
    private static let emulators = ProcessInfo.processInfo.environment["BACKPLANE_FIREBASE"]

    @Test(arguments: FirebaseCase.all, [LaneRule.fastest, .encoded])
    func `meets a case`(row: FirebaseCase, lanes: LaneRule) async throws {
        if let emulators = Self.emulators {
            let addresses = try await FirebaseAddresses.ofEmulators(emulators)
            return try await FirebaseHost.with(nil, at: addresses, lanes: lanes) { try await row.run($0) }
        }
        try await Self.standIn(lanes) { firebase, _ in try await row.run(firebase) }
    }

    @Test func `is a library of its own`() async throws {
        let standIn = try FirebaseStandIn(), addresses = standIn.addresses
        try await FirebaseHost.with(standIn, at: addresses, isLoaded: true) { firebase in
            for row in FirebaseCase.all { try await row.run(firebase) }
        }
    }

    private static func standIn(
        _ lanes: LaneRule = .fastest, _ body: (FirebaseHost, FirebaseStandIn) async throws -> Void
    ) async throws {
        let standIn = try FirebaseStandIn()
        try await FirebaseHost.with(standIn, at: standIn.addresses, lanes: lanes) { try await body($0, standIn) }
    }

    // MARK: Addresses

    @Test func `a path that no database can have is refused before anything is sent`() async throws {
        try await Self.standIn { firebase, _ in
            let paths = [
                "a.b", "a%23b", "a$b", "a[b", "a%5Db", "loans.json", "a%2Fb", "a%00b", "%FF", "%4",
                String(repeating: "k", count: 769), (1...33).map(String.init).joined(separator: "/"),
            ]
            for path in paths + ["a#b"] {
                let url = "firebase://library/\(path)"
                let error = await firebase.failure {
                    try await firebase.context.http.send(HTTPRequest("GET", url), firebase.call)
                }
                #expect(error?.code == .networkInvalidRequest && error?.networkNumber == 4, "\(path): \(error as Any)")
            }
            for query in ["auth=secret", "access_token=secret", "limitToFirst=none", "colour=red"] {
                let url = "firebase://library/loans?\(query)"
                let error = await firebase.failure {
                    try await firebase.context.http.send(HTTPRequest("GET", url), firebase.call)
                }
                #expect(
                    error?.code == .networkInvalidRequest && error?.description.contains("secret") == false, "\(query)")
            }
            for url in ["firebase-storage://library/%2e%2e", "firebase-storage://../covers"] {
                let error = await firebase.failure {
                    try await firebase.context.http.send(HTTPRequest("DELETE", url), firebase.call)
                }
                #expect(error?.code == .networkInvalidRequest, "\(url): \(error as Any)")
            }
            let list = await firebase.failure {
                try await firebase.bucket.load(Endpoint<Nothing>("DELETE", "covers/"), firebase.call)
            }
            #expect(list?.code == .networkInvalidRequest)
        }
    }

    @Test func `a value that is too deep is refused before anything is sent`() async throws {
        try await Self.standIn { firebase, _ in
            func value(_ depth: Int) -> DocumentValue { (0..<depth).reduce("[{\"") { value, _ in ["d": value] } }
            // The part of this host and `v` are two keys.
            try await firebase.load("PUT", "v", value(30))
            let deep = await firebase.failure { try await firebase.load("PUT", "v", value(31)) }
            #expect(deep?.code == .networkBody && deep?.message.contains("33 levels") == true)
            let pushed = await firebase.failure { try await firebase.load("POST", "v", value(30)) }
            #expect(pushed?.code == .networkBody)
        }
    }

    @Test func `a REST URL is loaded unchanged by the executor's name`() async throws {
        try await Self.standIn { firebase, standIn in
            let url = "http://\(standIn.addresses.database)/\(firebase.part)/loan.json?ns=library"
            var options = HTTPOptions()
            options.executor = "firebase"
            let put = HTTPRequest("PUT", url, body: .bytes(Array("1".utf8)))
            #expect(try await firebase.context.http.send(put, firebase.call, options).status == 200)
            #expect(try await firebase.load("GET", "loan") == 1)
            let denied = HTTPRequest("GET", "http://\(standIn.addresses.database)/forbidden.json")
            let response = try await firebase.context.http.send(denied, firebase.call, options)
            #expect(response.status == 403 && response.headers["Content-Type"] == "application/problem+json")
        }
    }

    // MARK: Answers

    @Test func `a page of a proxy is no value`() async throws {
        try await Self.standIn { firebase, standIn in
            standIn.fail(.page("200 OK"), .page("502 Bad Gateway"))
            let page = await firebase.failure { try await firebase.load("GET", "loans") }
            #expect(page?.code == .networkUnparsable && page?.message.contains("proxy") == true)
            let gateway = await firebase.failure { try await firebase.load("GET", "loans") }
            #expect(gateway?.code == .networkStatus && gateway?.httpStatus == 502)
            #expect(gateway?.message.contains("proxy") == true)
        }
    }

    @Test func `a quota is told apart, and a service that is away is asked again`() async throws {
        try await Self.standIn { firebase, standIn in
            standIn.fail(.status("402 Payment Required"), .status("503 Service Unavailable"))
            let full = await firebase.failure {
                try await firebase.bucket.load(Endpoint<Nothing>("GET", "a"), firebase.call)
            }
            #expect(full?.httpStatus == 402 && full?.failure?.code == "firebase.quota")
            var read = Endpoint<DocumentValue>("GET", "loans"), policy = RetryPolicy(attempts: 2)
            policy.base = .zero
            read.retry = policy
            let value = try await firebase.database.load(read, firebase.call)
            #expect(value == .null)
        }
    }

    // MARK: Streams

    @Test func `a stream that breaks is resumed without a repeated value`() async throws {
        try await Self.standIn { firebase, standIn in
            try await firebase.load("PUT", "loans", ["a": 1])
            try await firebase.following("loans") { values, _ in
                #expect(try await values.first(1) == [["a": 1]])
                standIn.breakStreams()
                _ = try await standIn.streams.first(2)
                try await firebase.load("PUT", "loans/b", 2)
                #expect(try await values.first(2) == [["a": 1], ["a": 1, "b": 2]])
            }
        }
    }

    @Test func `a token that is revoked in a stream is replaced`() async throws {
        try await Self.standIn { firebase, standIn in
            let path = "firebase://library/private/\(firebase.part)"
            try await firebase.load("PUT", path, 1, as: "anonymous")
            try await firebase.following(path, as: "anonymous") { values, _ in
                #expect(try await values.first(1) == [1])
                standIn.expireTokens()
                standIn.send("auth_revoked", "\"credential is no longer valid\"")
                _ = try await standIn.streams.first(2)
                try await firebase.load("PUT", path, 2, as: "anonymous")
                #expect(try await values.first(2) == [1, 2])
            }
            #expect(standIn.tokenRequests.all == ["accounts:signUp", "token"])
        }
    }

    @Test func `a stream ends when the rules no longer allow it`() async throws {
        try await Self.standIn { firebase, standIn in
            try await firebase.following("loans") { values, reader in
                _ = try await values.first(1)
                standIn.send("keep-alive", "null")
                standIn.send("cancel", "null")
                let error = await reader.value
                #expect(error?.httpStatus == 403 && error?.failure?.code == "firebase.permission-denied")
            }
        }
    }

    @Test(arguments: [
        (#"event: patch\ndata: {"path":"/","data":{"a":1}}\n\n"#, "a patch before the value"),
        (#"event: put\ndata: {"path":"/a","data":1}\n\n"#, "a part of a value before the value"),
        (#"event: put\ndata: whale\n\n"#, "without `path` and `data`"),
    ])
    func `a stream that makes no sense is refused`(text: String, words: String) async throws {
        try await Self.standIn { firebase, standIn in
            standIn.fail(.events(text.replacing(#"\n"#, with: "\n")))
            let error = await firebase.failure { for try await _ in firebase.events(of: "loans") {} }
            #expect(error?.code == .networkMalformed && error?.message.contains(words) == true, "\(error as Any)")
        }
    }

    @Test func `events keep the form of values`() throws {
        var followed = FollowedValue()
        func after(_ name: String, _ path: String, _ data: String) throws -> DocumentValue? {
            try followed.apply(ServerEvent(name: name, data: #"{"path":"\#(path)","data":\#(data)}"#))
            return followed.value
        }
        #expect(try after("put", "/", #"["a","b"]"#) == ["a", "b"])
        #expect(try after("put", "/2", #""c""#) == ["a", "b", "c"])
        #expect(try after("put", "/0", "null") == [.null, "b", "c"])
        #expect(try after("put", "/9", "1") == ["1": "b", "2": "c", "9": 1])
        #expect(try after("patch", "/", #"{"x/y":1,"1":null,"2":null,"9":null}"#) == ["x": ["y": 1]])
        #expect(try after("put", "/x/y", "null") == .null)
        #expect(try after("put", "/x", "1") == ["x": 1])
        #expect(try after("patch", "/", #"{"x/y":null,"z":null}"#) == ["x": 1])
        #expect(try after("put", "/x", "null") == .null)
        #expect(try after("put", "/\(Int.max)", "1") == .dictionary(["\(Int.max)": 1]))
    }

    @Test func `an event that changes nothing leaves the value as it was, with all that is null in it`() throws {
        var followed = FollowedValue()
        func after(_ name: String, _ path: String, _ data: String) throws -> String? {
            try followed.apply(ServerEvent(name: name, data: #"{"path":"\#(path)","data":\#(data)}"#))
            return followed.id
        }
        let id = try after("put", "/", #"{"x":1}"#)
        #expect(try after("patch", "/", #"{"a":{"b":null},"c":[null,{}]}"#) == id)
        #expect(try after("put", "/a/b", #"{"c":{"d":null}}"#) == id)
        #expect(try after("put", "/x/y", #"{"z":null}"#) == id)
        #expect(try after("put", "/", #"{"x":1,"a":{"b":null}}"#) == id)
    }

    // MARK: Tokens

    @Test func `a rejected token is refreshed once, for the database and for storage`() async throws {
        try await Self.standIn { firebase, standIn in
            let path = "firebase://library/private/\(firebase.part)"
            try await firebase.load("PUT", path, 1, as: "anonymous")
            standIn.expireTokens()
            #expect(try await firebase.load("GET", path, as: "anonymous") == 1)
            standIn.expireTokens()
            _ = try await firebase.upload([1], to: "private/\(firebase.part)", as: "anonymous")
            #expect(standIn.tokenRequests.all == ["accounts:signUp", "token", "token"])
            standIn.expireTokens()
            standIn.state.withLock { $0.refreshTokens = [:] }
            try firebase.context.http.signOut("anonymous", account: "")
            let login = ["email": "ann@example.org", "password": "white whale"]
            try await firebase.context.http.signIn("new", as: "ann", with: login, firebase.call)
            standIn.expireTokens()
            standIn.state.withLock { $0.refreshTokens = [:] }
            let lost = await firebase.failure { try await firebase.load("GET", path, as: "new", "ann") }
            #expect(lost?.code == .networkSignIn && lost?.message.contains("INVALID_REFRESH_TOKEN") == true)
        }
    }

    @Test func `a token is refreshed before it expires`() async throws {
        let standIn = try FirebaseStandIn(), date = Mutex(Date(timeIntervalSince1970: 1_000_000))
        let vault = CredentialVault(date: { date.withLock(\.self) })
        let credentials = vault.credentials(FirebaseHost.credentials(at: standIn.addresses))
        let network = HTTPPipeline([AsyncHTTPClientExecutor()], credentials: credentials)
        let request = HTTPRequest("GET", "http://\(standIn.addresses.database)/private.json")
        var options = HTTPOptions()
        options.credential = "anonymous"
        for step in [0, 3_500, 100] as [TimeInterval] {
            date.withLock { $0 += step }
            #expect(try await network.send(request, options).status == 200)
        }
        #expect(standIn.tokenRequests.all == ["accounts:signUp", "token"])
    }

    // MARK: Uploads

    private static let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
    /// The size of the pieces that the plugin sends.
    private static let piece = 1 << 20

    /// Uploads an object, with what happens at a command, once; returns the commands.
    private static func upload(
        _ firebase: FirebaseHost, _ standIn: FirebaseStandIn, at command: String,
        _ happens: @escaping @Sendable (FirebaseStandIn) -> Void
    ) async throws -> [String] {
        let hasHappened = Mutex(false)
        standIn.uploading.withLock {
            $0 = { [unowned standIn] line in
                let isFirst = hasHappened.withLock { hasHappened in
                    defer { hasHappened = hasHappened || line == command }
                    return !hasHappened && line == command
                }
                if isFirst { happens(standIn) }
                return false
            }
        }
        let object = try await firebase.upload(bytes, to: "private/\(firebase.part)", as: "anonymous")
        #expect(object["size"] == "3000000")
        #expect(standIn.state.withLock { $0.objects["private/\(firebase.part)"]?.bytes } == bytes)
        return standIn.commands.all
    }

    @Test func `a token that expires in the middle of an upload is replaced`() async throws {
        try await Self.standIn { firebase, standIn in
            let second = "upload \(Self.piece)"
            let commands = try await Self.upload(firebase, standIn, at: second) { $0.expireTokens() }
            #expect(commands == ["start", "upload 0", second, second, "upload, finalize \(2 * Self.piece)"])
        }
    }

    @Test func `an upload whose session is gone is begun anew`() async throws {
        try await Self.standIn { firebase, standIn in
            let second = "upload \(Self.piece)", last = "upload, finalize \(2 * Self.piece)"
            let commands = try await Self.upload(firebase, standIn, at: second) { $0.loseUploads() }
            #expect(commands == ["start", "upload 0", second, "start", "upload 0", second, last])
        }
    }

    @Test func `a piece that is lost is sent again, and no other`() async throws {
        try await Self.standIn { firebase, standIn in
            let second = "upload \(Self.piece)", last = "upload, finalize \(2 * Self.piece)"
            let commands = try await Self.upload(firebase, standIn, at: second) { $0.fail(.status("503 Gone")) }
            #expect(commands == ["start", "upload 0", second, "query", second, last])
        }
    }

    @Test func `a piece that an earlier request has added is not sent again`() async throws {
        try await Self.standIn { firebase, standIn in
            let second = "upload \(Self.piece)", last = "upload, finalize \(2 * Self.piece)"
            let commands = try await Self.upload(firebase, standIn, at: second) { standIn in
                standIn.state.withLock { state in
                    for id in Array(state.uploads.keys) {
                        state.uploads[id]?.bytes += Self.bytes[Self.piece..<2 * Self.piece]
                    }
                }
            }
            #expect(commands == ["start", "upload 0", second, "query", last])
        }
    }

    @Test func `a file that shrinks during its upload fails it`() async throws {
        try await Self.standIn { firebase, standIn in
            let file = "\(firebase.context.folder)/whale"
            try Data(Self.bytes).write(to: URL(filePath: file))
            standIn.uploading.withLock {
                $0 = { line in line == "upload \(Self.piece)" && truncate(file, Self.piece) == 0 }
            }
            let error = await firebase.failure {
                let upload = Endpoint<Nothing>("PUT", firebase.part, body: .file(file))
                return try await firebase.bucket.load(upload, firebase.call)
            }
            #expect(error?.code == .networkBody, "\(error as Any)")
            #expect(standIn.commands.all.last == "query")
        }
    }

    @Test func `a page of a proxy is no answer to an upload`() async throws {
        try await Self.standIn { firebase, standIn in
            for command in ["start", "upload \(Self.piece)", "upload, finalize \(2 * Self.piece)"] {
                standIn.uploading.withLock {
                    $0 = { [unowned standIn] line in
                        if line == command { standIn.fail(.page("200 OK")) }
                        return false
                    }
                }
                let error = await firebase.failure { try await firebase.upload(Self.bytes, to: firebase.part) }
                #expect(error?.code == .networkUnparsable && error?.message.contains("proxy") == true, "\(command)")
            }
        }
    }

    @Test func `a transfer shows the progress of an upload, and continues one that was interrupted`() async throws {
        try await Self.standIn { firebase, standIn in
            let seen = DispatchSemaphore(value: 0), second = "upload \(Self.piece)",
                transfers = firebase.context.transfers
            standIn.uploading.withLock {
                $0 = { line in
                    guard line == second else { return false }
                    seen.wait()
                    return true
                }
            }
            let file = "\(firebase.context.folder)/whale"
            try Data(Self.bytes).write(to: URL(filePath: file))
            let request = HTTPRequest("PUT", "firebase-storage://library/\(firebase.part)", body: .file(file))
            try await transfers.begin(Transfer("whale", upload: request))
            for try await state in transfers.states(of: "whale") where state.bytes == Self.piece { break }
            // The second piece waits; then its transfer is paused, and resumed.
            try await transfers.pause("whale")
            standIn.uploading.withLock { $0 = nil }
            seen.signal()
            try await transfers.resume("whale")
            var last: TransferState?
            for try await state in transfers.states(of: "whale") { last = state }
            #expect(last?.phase == .succeeded && last?.status == 200 && last?.bytes == Int64(Self.bytes.count))
            #expect(standIn.state.withLock { $0.objects[firebase.part]?.bytes } == Self.bytes)
            #expect(standIn.commands.all.count { $0 == "start" } == 1, "\(standIn.commands.all)")
            #expect(standIn.commands.all.contains("query"))
            try await transfers.begin(Transfer("back", download: request.url, to: "back"))
            for try await state in transfers.states(of: "back") { last = state }
            #expect(last?.phase == .succeeded)
            #expect(try Data(contentsOf: URL(filePath: "\(firebase.context.folder)/back")) == Data(Self.bytes))
        }
    }
}
