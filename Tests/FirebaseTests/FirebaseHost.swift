import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneTestKit
import Firebase
import Foundation
import Synchronization
import TestFixtures
import Testing

/// Where Firebase's services are, each as `host:port`.
struct FirebaseAddresses: Sendable {
    var database, storage, accounts: String

    /// Returns the addresses that the hub of an emulator suite has (firebase.google.com/docs/emulator-suite), and loads
    /// the rules of the stand-in there.
    static func ofEmulators(_ hub: String) async throws -> FirebaseAddresses {
        struct Emulator: Decodable {
            var host: String
            var port: Int
        }
        let network = HTTPPipeline([AsyncHTTPClientExecutor()])
        let known = try await HTTPClient(network).relative(to: "http://\(hub)").load(
            Endpoint<[String: Emulator]>("GET", "emulators"))
        func address(_ name: String) throws -> String {
            guard let emulator = known[name] else {
                throw BackplaneError(.networkFailed, "the emulator suite has no `\(name)`")
            }
            return "\(emulator.host):\(emulator.port)"
        }
        let found = FirebaseAddresses(
            database: try address("database"), storage: try address("storage"), accounts: try address("auth"))
        var database = HTTPRequest(
            "PUT", "http://\(found.database)/.settings/rules.json?ns=library", body: databaseRules)
        database.headers["Authorization"] = "Bearer owner"
        let storage = HTTPRequest("PUT", "http://\(found.storage)/internal/setRules", body: storageRules)
        for request in [database, storage] {
            let response = try await network.send(request)
            #expect(response.status == 200, "\(request.url): \(String(decoding: response.body, as: UTF8.self))")
        }
        return found
    }

    private static let databaseRules = HTTPBody.bytes(
        Array(
            """
            {"rules": {
              "$open": {".read": true, ".write": true},
              "private": {".read": "auth != null", ".write": "auth != null"},
              "forbidden": {".read": false, ".write": false},
              "users": {"$id": {".read": "auth.uid === $id", ".write": "auth.uid === $id"}}
            }}
            """.utf8), type: "application/json")

    private static var storageRules: HTTPBody {
        let rules = """
            service firebase.storage { match /b/{bucket}/o {
              match /{top}/{rest=**} {
                allow read, write: if top != 'forbidden' && (top != 'private' || request.auth != null);
              }
            } }
            """
        let files: DocumentValue = ["rules": ["files": [["name": "storage.rules", "content": .string(rules)]]]]
        return .bytes(Array(files.json), type: "application/json")
    }
}

/// A plugin whose communication controller lends its context to the test.
struct ReaderPlugin: Plugin {
    static let id = "org.backplane.tests.firebase-reader"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(Reader.self)
        registrar.add(ReaderCommunication.self)
    }
}

struct Reading: Contract {
    static let version: Version = "1.0.0"
    let nothing = SyncMethod<Nothing, Nothing>()
}

final class Reader: Manager {
    static let className = "Reader"
    struct Wires: Wiring {
        let communicationController: Wire<Reading>
    }

    init(_ context: Context) {}
}

final class ReaderCommunication: CommunicationController {
    typealias Provides = Reading
    static let className = "ReaderCommunication"
    struct Configuration: Codable, Sendable {
        var key: String
    }
    static let contexts = Mutex<[String: Context]>([:])

    init(_ context: Context) { Self.contexts.withLock { $0[context.configuration.key] = context } }

    static func methods(_ table: inout Methods) { table.sync(\.nothing) { _, _, _ in Nothing() } }
}

/// A host with the plugin, a component that uses it, and the service behind it.
struct FirebaseHost {
    let host: PluginHost
    let context: ReaderCommunication.Context
    /// The service, if it is the stand-in.
    let standIn: FirebaseStandIn?
    /// A part of the database, and of the names of objects, that only this host uses.
    let part = "case-" + UUID().uuidString.lowercased()

    /// The database, below the part of this host.
    var database: HTTPClient { context.http.relative(to: "firebase://library/\(part)") }
    var bucket: HTTPClient { context.http.relative(to: "firebase-storage://library/") }
    var call: Call { context.begin() }

    /// - Parameters:
    ///   - standIn: The service; `nil` for the emulators at `addresses`.
    ///   - isLoaded: Whether the plugin is a library of its own, and not linked.
    static func with(
        _ standIn: FirebaseStandIn?, at addresses: FirebaseAddresses, lanes: LaneRule = .fastest,
        isLoaded: Bool = false,
        _ body: (FirebaseHost) async throws -> Void
    ) async throws {
        let key = UUID().uuidString
        let manifest = Manifest(
            plugins: isLoaded ? [PluginReference(library: BuiltProducts.folder + "/libFirebase.so")] : [],
            managers: [
                "Firebase": ManagerDefinition(
                    className: "FirebaseExecutor",
                    communicationController: ComponentDefinition(
                        className: "FirebaseCommunication",
                        configuration: [
                            "database": .string("http://\(addresses.database)"),
                            "storage": .string("http://\(addresses.storage)"),
                        ])),
                "Reader": ManagerDefinition(
                    className: "Reader",
                    communicationController: ComponentDefinition(
                        className: "ReaderCommunication", configuration: ["key": .string(key)])),
            ],
            network: NetworkSettings(
                executors: ["firebase": "Firebase", "firebase-storage": "Firebase"],
                credentials: credentials(at: addresses)))
        defer { ReaderCommunication.contexts.withLock { $0[key] = nil } }
        let plugins: [any Plugin.Type] = isLoaded ? [ReaderPlugin.self] : [FirebasePlugin.self, ReaderPlugin.self]
        try await PluginHost.running(
            manifest, plugins, executors: [AsyncHTTPClientExecutor()], lanes: lanes
        ) { host in
            let context = try #require(ReaderCommunication.contexts.withLock { $0[key] })
            try await body(FirebaseHost(host: host, context: context, standIn: standIn))
        }
    }

    /// The ways of signing in, each a credential.
    static func credentials(at addresses: FirebaseAddresses) -> [String: Credential] {
        func credential(_ method: String, _ members: [String: TokenTemplate]) -> Credential {
            let root = "http://\(addresses.accounts)",
                content = members.merging(["returnSecureToken": .literal(true)]) { $1 }
            let signIn = TokenRequest(
                "\(root)/identitytoolkit.googleapis.com/v1/accounts:\(method)?key=key", .json(content))
            var refresh = TokenRequest(
                "\(root)/securetoken.googleapis.com/v1/token?key=key",
                .form(["grant_type": "refresh_token", "refresh_token": .value("refreshToken")]))
            (refresh.token, refresh.expires, refresh.refreshToken) = ("/id_token", "/expires_in", "/refresh_token")
            var source = TokenSource(
                signIn: signIn, refresh: refresh, token: "/idToken", expires: "/expiresIn",
                refreshToken: "/refreshToken")
            source.places = [addresses.database: .query("auth"), addresses.storage: .scheme("Firebase")]
            return Credential(hosts: [addresses.database, addresses.storage], .bearer(source))
        }
        let login: [String: TokenTemplate] = ["email": .value("email"), "password": .value("password")]
        return [
            "new": credential("signUp", login), "password": credential("signInWithPassword", login),
            "anonymous": credential("signUp", [:]),
            "custom": credential("signInWithCustomToken", ["token": .value("token")]),
        ]
    }
}

extension FirebaseHost {
    /// Loads JSON, below the part of this host unless the path is a whole URL.
    @discardableResult
    func load(
        _ method: String, _ path: String, _ value: DocumentValue? = nil,
        query: KeyValuePairs<String, String?> = [:], headers: HTTPHeaders = [:], as credential: String? = nil,
        _ account: String? = nil
    ) async throws -> DocumentValue {
        let body = value.map { HTTPBody.bytes(Array($0.json), type: "application/json") } ?? .none
        var endpoint = Endpoint<DocumentValue>(method, path, query: query, headers: headers, body: body)
        endpoint.allowsFullURL = true
        (endpoint.options.credential, endpoint.options.account) = (credential, account)
        return try await database.load(endpoint, call)
    }

    /// Returns what a step fails with.
    func failure(_ step: () async throws -> some Any) async -> BackplaneError? {
        do {
            _ = try await step()
            return nil
        } catch {
            return BackplaneError(thrown: error)
        }
    }

    /// The events of a path, whose reader makes connections again at once.
    func events(of path: String, as credential: String? = nil) -> ServerEvents {
        var endpoint = Endpoint<ServerEvent>("GET", path), policy = RetryPolicy(attempts: 10)
        (policy.base, policy.retryAfterLimit) = (.zero, .zero)
        (endpoint.retry, endpoint.options.credential) = (policy, credential)
        endpoint.allowsFullURL = true
        return database.events(endpoint, call)
    }

    /// Reads the values of a path for as long as `body` runs, which receives them, and the error that ends them.
    func following(
        _ path: String, as credential: String? = nil,
        _ body: (Recording<DocumentValue>, Task<BackplaneError?, Never>) async throws -> Void
    ) async throws {
        let values = Recording<DocumentValue>(), events = events(of: path, as: credential)
        let reader = Task { () -> BackplaneError? in
            do {
                for try await event in events { values.add(try DocumentValue(json: Data(event.data.utf8))) }
                return nil
            } catch {
                return BackplaneError(thrown: error)
            }
        }
        defer { reader.cancel() }
        try await body(values, reader)
    }

    /// Uploads bytes, and returns the metadata of the object.
    func upload(
        _ bytes: [UInt8], to name: String, type: String = "application/octet-stream", as credential: String? = nil
    ) async throws -> DocumentValue {
        let file = "\(context.folder)/\(UUID().uuidString)"
        try Data(bytes).write(to: URL(filePath: file))
        var endpoint = Endpoint<DocumentValue>("PUT", name, body: .file(file, type: type))
        endpoint.options.credential = credential
        return try await bucket.load(endpoint, call)
    }
}
