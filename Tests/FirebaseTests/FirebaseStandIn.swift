import BackplaneDocuments
import BackplaneTestKit
import Foundation
import Synchronization

/// A stand-in for Firebase: a Realtime Database, Cloud Storage, and the services of accounts, each on a port as in the
/// emulator suite. It does what their public documentation says.
///
/// Its rules: `private` is for whoever has signed in, `users/ID` for the user with that id, `forbidden` for nobody, and
/// everything else for anyone.
final class FirebaseStandIn: Sendable {
    /// What happens to the next request to the database or to storage, instead of an answer.
    enum Fault: Sendable {
        /// A proxy answers with a page.
        case page(String)
        case status(String)
        /// A stream that consists of a text.
        case events(String)
    }
    struct Object: Sendable {
        var bytes: [UInt8]
        var type: String
        var generation = 1
    }
    struct Upload: Sendable {
        var name, type: String
        var length: Int
        var bytes: [UInt8] = []
    }
    struct Follower {
        var path: [String]
        var connection: TestConnection
    }
    struct State {
        var root = DocumentValue.null
        var objects: [String: Object] = [:]
        var uploads: [String: Upload] = [:]
        /// The passwords and ids of users, by e-mail.
        var users: [String: (password: String, id: String)] = [:]
        /// The users of valid ID tokens, and of tokens for refreshing.
        var tokens: [String: String] = [:], refreshTokens: [String: String] = [:]
        var count = 0
        var followers: [Int: Follower] = [:]
        var faults: [Fault] = []
        /// Whether the connection breaks after the next change of the database.
        var losesAnswer = false

        mutating func next(_ name: String) -> String {
            count += 1
            return "\(name)-\(count)"
        }
    }
    /// The size of pieces of an upload: all but the last are a multiple.
    static let granularity = 64 << 10
    let state = Mutex(State())
    /// The commands of uploads with their offsets, and the requests for tokens, in the order of their arrival.
    let commands = Recording<String>(), tokenRequests = Recording<String>()
    /// A function that is called with each command of an upload before it is answered, and returns whether the
    /// connection breaks instead; it may block.
    let uploading = Mutex<(@Sendable (String) -> Bool)?>(nil)
    /// The paths of streams that were opened.
    let streams = Recording<String>()
    private let servers: Mutex<[TestServer]> = Mutex([])

    init() throws {
        let answers = [FirebaseStandIn.database, FirebaseStandIn.storage, FirebaseStandIn.accounts]
        let made = try answers.map { answer in
            try TestServer { [weak self] request, connection in
                guard let self else { return connection.close() }
                answer(self)(request, connection)
            }
        }
        servers.withLock { $0 = made }
    }

    deinit { servers.withLock { for server in $0 { server.stop() } } }

    var addresses: FirebaseAddresses {
        let ports = servers.withLock { $0.map(\.port) }
        return FirebaseAddresses(
            database: "127.0.0.1:\(ports[0])", storage: "127.0.0.1:\(ports[1])", accounts: "127.0.0.1:\(ports[2])")
    }

    func fail(_ faults: Fault...) { state.withLock { $0.faults += faults } }

    /// Makes all ID tokens expire; those for refreshing remain.
    func expireTokens() { state.withLock { $0.tokens = [:] } }

    func loseUploads() { state.withLock { $0.uploads = [:] } }

    /// Sends an event to all streams.
    func send(_ event: String, _ data: String) {
        state.withLock { state in
            for follower in state.followers.values {
                follower.connection.send("event: \(event)\ndata: \(data)\n\n")
            }
        }
    }

    /// Ends all streams.
    func breakStreams() { state.withLock { for follower in $0.followers.values { follower.connection.close() } } }

    /// Returns whether a fault has answered a request.
    private func hasFailed(_ connection: TestConnection) -> Bool {
        switch state.withLock({ $0.faults.isEmpty ? nil : $0.faults.removeFirst() }) {
        case nil: return false
        case .status(let status): connection.answer(status)
        case .events(let text):
            connection.answer("200 OK", [("Content-Type", "text/event-stream")], body: Array(text.utf8))
        case .page(let status):
            connection.answer(status, [("Content-Type", "text/html")], body: Array("<html>A proxy</html>".utf8))
        }
        return true
    }

    private func database(_ request: ReceivedRequest, _ connection: TestConnection) {
        if hasFailed(connection) { return }
        func refuse(_ status: String, _ why: String) { connection.answer(status, json: ["error": why]) }
        let query = request.query
        var path = request.path
        guard let last = path.popLast(), last.hasSuffix(".json") else {
            return connection.answer("404 Not Found", [("Content-Type", "text/html")])
        }
        if path + [last] == [".settings", "rules.json"] { return connection.answer(json: ["status": "ok"]) }
        path += [String(last.dropLast(5))].filter { !$0.isEmpty }
        guard path.count <= 32, path.allSatisfy(\.isKey) else {
            return refuse("400 Bad Request", "Invalid path: Invalid token in path")
        }
        let token = query["auth"], user = token.flatMap { token in state.withLock { $0.tokens[token] } }
        if token != nil, user == nil { return refuse("401 Unauthorized", "Auth token is expired") }
        guard Self.allows(path, user) else { return refuse("401 Unauthorized", "Permission denied") }
        if request["Accept"]?.contains("text/event-stream") == true { return follow(path, connection) }

        let old = state.withLock { $0.root[path] }
        if let expected = request["If-Match"], expected != old.etag {
            return connection.answer("412 Precondition Failed", [("ETag", old.etag)], json: old)
        }
        var result = old, change: (keys: [String], value: DocumentValue)?, event = "put"
        if ["PUT", "POST", "PATCH"].contains(request.method) {
            guard let sent = try? DocumentValue(json: Data(request.body)) else {
                return refuse("400 Bad Request", "Invalid data; couldn't parse JSON object, array, or value.")
            }
            guard sent.hasKeys else {
                return refuse("400 Bad Request", "Invalid data; couldn't parse key beginning at 1:2.")
            }
            switch request.method {
            case "PUT": (change, result) = ((path, sent), sent)
            case "POST":
                // Later names are greater, as those of the service are.
                let name = state.withLock { String(format: "-N%08d", Int($0.next("push").dropFirst(5)) ?? 0) }
                (change, result) = ((path + [name], sent), ["name": .string(name)])
            default:
                guard case .dictionary = sent else {
                    return refuse(
                        "400 Bad Request", "Invalid data; couldn't parse JSON object. Are you sending a JSON object?")
                }
                (change, result, event) = ((path, sent), sent, "patch")
            }
        } else if request.method == "DELETE" {
            (change, result) = ((path, .null), .null)
        } else {
            do { result = try old.filtered(query) } catch { return refuse("400 Bad Request", "\(error)") }
        }
        let (tag, isLost) = state.withLock { state in
            if let (keys, value) = change { state.write(value, at: keys, event) }
            let isLost = change != nil && state.losesAnswer
            if isLost { state.losesAnswer = false }
            return (state.root[path].etag, isLost)
        }
        if isLost { return connection.close() }
        if query["print"] == "silent" { return connection.answer("204 No Content") }
        connection.answer("200 OK", request["X-Firebase-ETag"] == "true" ? [("ETag", tag)] : [], json: result)
    }

    private func follow(_ path: [String], _ connection: TestConnection) {
        state.withLock { state in
            connection.sendHead("200 OK", [("Content-Type", "text/event-stream"), ("Connection", "close")])
            // Readers come back at once.
            connection.send("retry: 1\n")
            connection.send(State.event("put", [], state.root[path]))
            state.followers[connection.number] = Follower(path: path, connection: connection)
        }
        streams.add(path.joined(separator: "/"))
        while !connection.hasEnded(within: .seconds(30)) { send("keep-alive", "null") }
        state.withLock { $0.followers[connection.number] = nil }
    }

    private static func allows(_ path: [String], _ user: String?) -> Bool {
        switch path.first {
        case "forbidden": false
        case "private": user != nil
        case "users": path.count > 1 && path[1] == user
        default: true
        }
    }

    private func storage(_ request: ReceivedRequest, _ connection: TestConnection) {
        if let command = request["X-Goog-Upload-Command"] {
            let line = command + (request["X-Goog-Upload-Offset"].map { " \($0)" } ?? "")
            commands.add(line)
            if uploading.withLock(\.self)?(line) == true { return connection.reset() }
        }
        if hasFailed(connection) { return }
        func refuse(_ status: String, _ why: String) {
            let error: DocumentValue = ["code": .integer(Int64(status.prefix(3)) ?? 0), "message": .string(why)]
            connection.answer(status, json: ["error": error])
        }
        let query = request.query, path = request.path
        if path == ["internal", "setRules"] {
            return connection.answer(json: ["message": "Rules updated successfully"])
        }
        guard path.count >= 4, path[0] == "v0", path[1] == "b", path[3] == "o" else {
            return connection.answer("404 Not Found")
        }
        var user: String?
        if let authorization = request["Authorization"] {
            user = state.withLock { $0.tokens[String(authorization.dropFirst("Firebase ".count))] }
            guard authorization.hasPrefix("Firebase "), user != nil else {
                return refuse("401 Unauthorized", "Unauthenticated. Please authenticate and try again.")
            }
        }
        if let command = request["X-Goog-Upload-Command"] {
            return upload(command, request, query, user, connection, refuse)
        }
        guard path.count > 4 else {
            let prefix = query["prefix"] ?? "", most = Int(query["maxResults"] ?? "") ?? 1_000
            let names = state.withLock { $0.objects.keys.sorted() }.filter { name in
                name.hasPrefix(prefix) && !name.dropFirst(prefix.count).contains("/") && name > query["pageToken"] ?? ""
            }
            var list: [String: DocumentValue] = [
                "prefixes": [],
                "items": .array(names.prefix(most).map { ["name": .string($0), "bucket": .string(path[2])] }),
            ]
            if names.count > most { list["nextPageToken"] = .string(names[most - 1]) }
            return connection.answer(json: DocumentValue.dictionary(list))
        }
        let name = path[4...].joined(separator: "/"), verb = request.method == "GET" ? "READ" : "WRITE"
        guard Self.allows(name.split(separator: "/").map(String.init), user) else {
            return refuse("403 Forbidden", "Permission denied. No \(verb) permission.")
        }
        guard var object = state.withLock({ $0.objects[name] }) else { return refuse("404 Not Found", "Not Found.") }
        switch request.method {
        case "GET" where query["alt"] == "media":
            let fields = [("Content-Type", object.type)]
            return connection.answer(request, content: object.bytes, tag: "\"\(object.generation)\"", fields)
        case "DELETE":
            state.withLock { $0.objects[name] = nil }
            return connection.answer("204 No Content")
        case "PATCH":
            if case .dictionary(let members)? = try? DocumentValue(json: Data(request.body)),
                case .string(let type)? = members["contentType"]
            {
                object.type = type
                state.withLock { [object] in $0.objects[name] = object }
            }
        default: break
        }
        connection.answer(json: object.metadata(name))
    }

    private func upload(
        _ command: String, _ request: ReceivedRequest, _ query: [String: String], _ user: String?,
        _ connection: TestConnection, _ refuse: (String, String) -> Void
    ) {
        let offset = request["X-Goog-Upload-Offset"].flatMap { Int($0) }
        if command == "start" {
            let name = query["name"] ?? ""
            guard Self.allows(name.split(separator: "/").map(String.init), user) else {
                return refuse("403 Forbidden", "Permission denied. No WRITE permission.")
            }
            let id = state.withLock { state in
                let id = state.next("upload")
                state.uploads[id] = Upload(
                    name: name, type: request["X-Goog-Upload-Header-Content-Type"] ?? "",
                    length: Int(request["X-Goog-Upload-Header-Content-Length"] ?? "") ?? -1)
                return id
            }
            let place = "http://\(addresses.storage)/v0/b/library/o?upload_id=\(id)&upload_protocol=resumable"
            let fields = [
                ("X-Goog-Upload-URL", place), ("X-Goog-Upload-Status", "active"),
                ("X-Goog-Upload-Chunk-Granularity", "\(Self.granularity)"),
            ]
            return connection.answer("200 OK", fields)
        }
        guard let id = query["upload_id"], var upload = state.withLock({ $0.uploads[id] }) else {
            return refuse("404 Not Found", "Not Found.")
        }
        if command == "query" {
            let fields = [("X-Goog-Upload-Status", "active"), ("X-Goog-Upload-Size-Received", "\(upload.bytes.count)")]
            return connection.answer("200 OK", fields)
        }
        let isLast = command.contains("finalize")
        guard offset == upload.bytes.count, isLast || request.body.count % Self.granularity == 0 else {
            return refuse("400 Bad Request", "The offset or the size of the piece is wrong.")
        }
        upload.bytes += request.body
        guard !isLast || upload.bytes.count == upload.length else {
            return refuse("400 Bad Request", "The upload is not complete.")
        }
        let object = Object(bytes: upload.bytes, type: upload.type)
        state.withLock { [upload] state in
            state.uploads[id] = isLast ? nil : upload
            if isLast { state.objects[upload.name] = object }
        }
        guard isLast else { return connection.answer("200 OK", [("X-Goog-Upload-Status", "active")]) }
        connection.answer("200 OK", [("X-Goog-Upload-Status", "final")], json: object.metadata(upload.name))
    }

    private func accounts(_ request: ReceivedRequest, _ connection: TestConnection) {
        let endpoint = request.path.last ?? ""
        tokenRequests.add(endpoint)
        func refuse(_ message: String) {
            connection.answer(
                "400 Bad Request",
                json: DocumentValue.dictionary([
                    "error": ["code": 400, "message": .string(message)]
                ]))
        }
        var sent: [String: String] = [:]
        if endpoint == "token" {
            let form = URLComponents(string: "?" + String(decoding: request.body, as: UTF8.self))?.queryItems ?? []
            sent = Dictionary(form.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        } else if case .dictionary(let members)? = try? DocumentValue(json: Data(request.body)) {
            for case (let name, .string(let text)) in members { sent[name] = text }
        }
        enum Outcome { case user(String), refused(String) }
        let outcome = state.withLock { state -> Outcome in
            let known = sent["email"].flatMap { state.users[$0] }
            switch endpoint {
            case "accounts:signUp":
                guard let email = sent["email"] else { return .user(state.next("anonymous")) }
                guard known == nil else { return .refused("EMAIL_EXISTS") }
                guard let password = sent["password"], password.count >= 6 else {
                    return .refused("WEAK_PASSWORD : Password should be at least 6 characters")
                }
                let id = state.next("user")
                state.users[email] = (password, id)
                return .user(id)
            case "accounts:signInWithPassword":
                guard let known else { return .refused("EMAIL_NOT_FOUND") }
                return known.password == sent["password"] ? .user(known.id) : .refused("INVALID_PASSWORD")
            case "accounts:signInWithCustomToken":
                guard case .dictionary(let token)? = try? DocumentValue(json: Data((sent["token"] ?? "").utf8)),
                    case .string(let id)? = token["uid"]
                else { return .refused("INVALID_CUSTOM_TOKEN") }
                return .user(id)
            default:
                let user = state.refreshTokens[sent["refresh_token"] ?? ""]
                return user.map { .user($0) } ?? .refused("INVALID_REFRESH_TOKEN")
            }
        }
        guard case .user(let user) = outcome else {
            if case .refused(let why) = outcome { refuse(why) }
            return
        }
        let (token, refresh) = state.withLock { state in
            let token = state.next("token"), refresh = state.next("refresh")
            (state.tokens[token], state.refreshTokens[refresh]) = (user, user)
            return (token, refresh)
        }
        connection.answer(
            json: endpoint == "token"
                ? ["id_token": token, "refresh_token": refresh, "expires_in": "3600", "user_id": user]
                : ["idToken": token, "refreshToken": refresh, "expiresIn": "3600", "localId": user])
    }
}

extension FirebaseStandIn.State {
    /// Writes a value, and tells the streams of paths above and below.
    fileprivate mutating func write(_ value: DocumentValue, at path: [String], _ event: String) {
        let changes = event == "patch" ? value.members.map { (path + [$0.key], $0.value) } : [(path, value)]
        for (path, value) in changes { root = root.setting(path[...], value) }
        for follower in followers.values {
            if path.starts(with: follower.path) {
                let rest = path.dropFirst(follower.path.count)
                follower.connection.send(Self.event(event, Array(rest), value))
            } else if follower.path.starts(with: path) {
                follower.connection.send(Self.event("put", [], root[follower.path]))
            }
        }
    }

    static func event(_ name: String, _ path: [String], _ data: DocumentValue) -> String {
        let change = DocumentValue.dictionary(["path": .string("/" + path.joined(separator: "/")), "data": data])
        return "event: \(name)\ndata: \(String(decoding: change.json, as: UTF8.self))\n\n"
    }
}

extension FirebaseStandIn.Object {
    fileprivate func metadata(_ name: String) -> [String: String] {
        [
            "name": name, "bucket": "library", "contentType": type, "size": "\(bytes.count)",
            "generation": "\(generation)",
        ]
    }
}
