import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import BackplaneURLSession
import Foundation
import Testing

/// Nomosi's README: a service for each remote resource, decorated, checked, observed and loaded.
@Suite(.timeLimit(.minutes(1)))
struct `Nomosi's README` {
    struct User: Codable, Sendable, Equatable {
        var name: String
    }
    /// The error with which a decoration ends a load.
    struct ServiceError: ComponentError, Equatable {
        var code: String
        var message: String
    }

    /// A service of one resource: `UserService(id: 7)`.
    private func userService(_ id: Int) -> Endpoint<User> {
        var service = Endpoint<User>("GET", "users/\(id)", headers: ["Accept": "application/json"])
        service.name = "UserService"
        service.logLevel = .minimal
        return service
    }

    private func server() throws -> TestServer {
        try TestServer { request, connection in
            switch (request.method, request.target) {
            case ("GET", "/v1/users/7"): connection.answer(json: User(name: request["X-Token"] ?? "Ann"))
            case ("PUT", "/v1/files/1"): connection.answer("200 OK", body: request.body)
            case ("GET", "/v1/files/1"): connection.answer("200 OK", body: [1, 2, 3])
            default: connection.answer("404 Not Found", body: Array("no user".utf8))
            }
        }
    }

    private func client(_ server: TestServer, log: Recording<String> = Recording()) -> HTTPClient {
        var http = HTTPClient([URLSessionExecutor()]).relative(to: server.url("/v1"))
        http.defaults.log = { message, metadata, _ in log.add("\(message) \(metadata["status"] ?? "")") }
        return http
    }

    @Test func `a service is loaded with callbacks and an observer, and as an async function`() async throws {
        let server = try server(), log = Recording<String>(), http = client(server, log: log),
            steps = Recording<String>()
        let service = userService(7)
        #expect(log.all.isEmpty, "building a service loads nothing")
        let load = service.load(on: http)
            .onSuccess { user in steps.add("success \(user.name)") }
            .onFailure { error in steps.add("failure \(error)") }
            .onCompletion { _ in steps.add("completion") }
            .observe { event in
                if event.stage != .progress { steps.add("\(event.stage.rawValue) \(event.endpoint ?? "")") }
            }
        #expect(try await load.value == User(name: "Ann"))
        // The load may end before its last observer is there, which then receives its events late.
        #expect(
            try await steps.first(4).sorted() == ["completion", "end UserService", "start UserService", "success Ann"])
        #expect(try await http.load(service) == User(name: "Ann"))
        #expect(log.all == ["load ended 200", "load ended 200"])
    }

    @Test func `a decoration adds a token, or ends the load with its own error`() async throws {
        let server = try server(), http = client(server)
        var service = userService(7)
        service.interceptors = [
            HTTPInterceptor { request, next in
                var request = request
                request.headers["X-Token"] = "t"
                return try await next(request)
            }
        ]
        #expect(try await http.load(service) == User(name: "t"))
        service.interceptors = [
            HTTPInterceptor { _, _ in throw ServiceError(code: "100", message: "there is no token") }
        ]
        let error = await #expect(throws: BackplaneError.self) { try await http.load(service) }
        #expect(error?.failure?.code == "100")
        #expect(error?.message.contains("there is no token") == true)
    }

    @Test func `an upload and a download have progress, and a download that has no target is error 10`() async throws {
        let server = try server(), http = client(server), folder = try TestFolder()
        let content = [UInt8](repeating: 1, count: 100_000), progress = Recording<HTTPProgress>()
        let upload = Endpoint<[UInt8]>("PUT", "files/1", body: .bytes(content))
        #expect(try await http.load(upload, progress: { progress.add($0) }) == content)
        #expect(progress.all.last?.received == 100_000)
        let download = Endpoint<DownloadedFile>("GET", "files/1", to: folder.path + "/file")
        #expect(try await http.load(download).size == 3)
        let error = await #expect(throws: BackplaneError.self) {
            try await http.load(Endpoint<DownloadedFile>("GET", "files/1", to: folder.path + "/no/such/folder/file"))
        }
        #expect(error?.networkNumber == 10)
    }
}
