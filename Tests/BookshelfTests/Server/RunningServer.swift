import Foundation
import FoundationNetworking
import TestFixtures
import Testing

/// The example's server as a program, on the loopback interface.
final class RunningServer: Sendable {
    let url: String
    private let process: Process
    private let input = Pipe()
    private let ends: AsyncStream<Int32>
    private let session = URLSession(configuration: .ephemeral)

    /// Starts a server for as long as `body` runs. It ends with the tests in any case, because it watches its input.
    static func run<Result>(_ arguments: String..., body: (RunningServer) async throws -> Result) async throws -> Result
    {
        let server = try RunningServer(arguments)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    /// Runs the program until it ends by itself, and returns its exit code and what it printed.
    static func ended(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process(), output = Pipe()
        (process.executableURL, process.arguments) = (executable, arguments)
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }

    /// The program, which the package manager puts beside the tests.
    static var executable: URL {
        URL(filePath: BuiltProducts.folder + "/bookshelf-server")
    }

    private init(_ arguments: [String]) throws {
        let process = Process(), output = Pipe()
        (process.executableURL, process.arguments) = (Self.executable, ["--stop-with-parent"] + arguments)
        (process.standardInput, process.standardOutput) = (input, output)
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationReason == .exit ? $0.terminationStatus : -1) }
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n"), let byte = try output.fileHandleForReading.read(upToCount: 1) {
            line += byte
        }
        let match = String(decoding: line, as: UTF8.self).wholeMatch(
            of: /bookshelf-server listening on (http:\/\/127\.0\.0\.1:[0-9]+)\n/)
        (self.process, self.ends, url) = (process, ends, String(try #require(match).1))
    }

    var port: UInt16 { url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

    func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

    func closeInput() throws { try input.fileHandleForWriting.close() }

    /// Waits for the exit code; -1 stands for a signal.
    func end() async -> Int32? { await ends.first { _ in true } }

    private func stop() async {
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        session.invalidateAndCancel()
    }

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, headers)
    }

    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], body: String? = nil)
        async throws -> Answer
    {
        var request = URLRequest(url: try #require(URL(string: url + path)), cachePolicy: .reloadIgnoringCacheData)
        request.httpMethod = method
        request.allHTTPHeaderFields = headers
        request.httpBody = body.map { Data($0.utf8) }
        let (data, response) = try await session.data(for: request)
        return Answer(response: try #require(response as? HTTPURLResponse), data: data)
    }

    /// Signs in as the reader that each server knows, and returns the header that says so.
    func signIn() async throws -> [String: String] {
        let answer = try await send(
            "POST", "/v2/sessions", body: #"{"reader": "ada", "password": "difference-engine"}"#)
        return ["Authorization": "Bearer \(try answer.text("token"))"]
    }
}

/// A response of a server.
struct Answer {
    let response: HTTPURLResponse
    let data: Data

    var status: Int { response.statusCode }
    var text: String { String(decoding: data, as: UTF8.self) }
    var object: [String: Any] {
        get throws { try #require(JSONSerialization.jsonObject(with: data) as? [String: Any]) }
    }
    /// The identifiers of a page of books.
    var ids: [String] {
        get throws { try #require(try object["items"] as? [[String: Any]]).compactMap { $0["id"] as? String } }
    }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
    func text(_ key: String) throws -> String { try #require(try object[key] as? String) }

    /// Expects a refusal in the form of all refusals.
    func expect(_ status: Int, _ code: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(self.status == status, sourceLocation: sourceLocation)
        #expect(try text("error") == code, sourceLocation: sourceLocation)
        #expect(try text("message").hasSuffix("."), sourceLocation: sourceLocation)
    }
}
