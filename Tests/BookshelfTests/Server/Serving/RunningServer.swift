#if Engines
import Foundation
import FoundationNetworking
import Testing

/// The real server, as a process of its own on the loopback interface.
final class RunningServer: Sendable {
    let url: String
    /// Where it keeps what is temporary; its own.
    let folder: URL
    private let process: Process
    private let input: Pipe
    private let output: Pipe
    private let ends: AsyncStream<Int32>
    private let session: URLSession

    /// Starts a server for as long as `body` runs. It ends with the tests in any case, because it watches its input.
    static func run<Result>(_ arguments: String..., body: (RunningServer) async throws -> Result) async throws -> Result
    {
        let server = try await RunningServer(arguments)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    private func stop() async {
        process.terminate()
        _ = await end()
        session.invalidateAndCancel()
        try? FileManager.default.removeItem(at: folder)
    }

    private init(_ arguments: [String]) async throws {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        folder = FileManager.default.temporaryDirectory.appending(path: "bookshelf-tests-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path()]) { $1 }
        process.executableURL = Self.executable
        process.arguments = ["--stop-with-parent"] + arguments
        process.standardInput = input
        process.standardOutput = output
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            end.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
            end.finish()
        }
        try process.run()
        let text = await output.fileHandleForReading.firstLine()
        url = try #require(text.wholeMatch(of: /bookshelf-server listening on (http:\/\/127\.0\.0\.1:[0-9]+)\n/)).output
            .1.description
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
        (self.process, self.input, self.output, self.ends) = (process, input, output, ends)
    }

    /// Beside the tests, where the package manager puts it.
    static var executable: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "bookshelf-server")
    }

    var port: UInt16 { url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }
    var identifier: Int32 { process.processIdentifier }

    func temporaryFiles(in path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path())
    }

    /// What it printed after its first line, once it has ended.
    func restOfOutput() throws -> String {
        String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    func closeInput() throws {
        try input.fileHandleForWriting.close()
    }

    /// Waits for the exit code, or the signal that ended it, negative; `nil` when it was waited for before.
    func end() async -> Int32? {
        for await status in ends { return status }
        return nil
    }

    func send(_ method: String = "GET", _ path: String, _ headers: [String: String] = [:], body: String? = nil)
        async throws -> Answer
    {
        try await send(method, path, headers, bytes: body.map { Data($0.utf8) })
    }

    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], bytes: Data?) async throws -> Answer
    {
        var request = URLRequest(url: try #require(URL(string: url + path)))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.httpBody = bytes
        let (data, response) = try await session.data(for: request)
        return Answer(response: try #require(response as? HTTPURLResponse), data: data)
    }

    /// Signs in as the reader that a server has by itself, and gives the header that says so.
    func signIn() async throws -> [String: String] {
        let answer = try await send(
            "POST", "/v2/sessions", body: #"{"reader": "ada", "password": "difference-engine"}"#)
        try #require(answer.status == 201)
        return ["Authorization": "Bearer \(try answer.text("token"))"]
    }
}

/// What a server answered.
struct Answer {
    let response: HTTPURLResponse
    let data: Data

    var status: Int { response.statusCode }
    var text: String { String(decoding: data, as: UTF8.self) }

    func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value { try JSONDecoder().decode(type, from: data) }

    /// One text of an object.
    func text(_ key: String) throws -> String {
        let object = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try #require(object[key] as? String)
    }

    /// Expects an error as the server writes every one of them.
    func expectError(_ status: Int, _ code: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        struct Body: Decodable {
            var error: String
            var message: String
        }
        #expect(self.status == status, sourceLocation: sourceLocation)
        #expect(header("Content-Type") == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        let body = try decoded(Body.self)
        #expect(body.error == code, sourceLocation: sourceLocation)
        #expect(body.message.hasSuffix("."), sourceLocation: sourceLocation)
    }
}

extension FileHandle {
    /// What comes until there is a whole line, or nothing more.
    fileprivate func firstLine() async -> String {
        // A thread of its own reads, byte by byte: no handler whose event could be missed, and none of Swift's threads
        // waits.
        let (lines, read) = AsyncStream.makeStream(of: Data.self)
        Thread.detachNewThread {
            var line = Data()
            while line.last != UInt8(ascii: "\n"), let byte = try? self.read(upToCount: 1), !byte.isEmpty {
                line += byte
            }
            read.yield(line)
            read.finish()
        }
        var line = Data()
        for await text in lines { line = text }
        return String(decoding: line, as: UTF8.self)
    }
}
#endif
