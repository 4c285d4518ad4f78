import Backplane
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The servers of suites, each in a child process: applications of Hummingbird on free ports of loopback.
enum BenchServer {
    /// The server of exchanges and transfers.
    struct Ports: Codable, Sendable {
        var port: Int

        /// Returns the URL of a response of this many bytes.
        func bytes(_ count: Int) -> String { "http://127.0.0.1:\(port)/bytes/\(count)" }
        /// The URL of a ``BenchLibrary`` of about 1 KB.
        var library: String { "http://127.0.0.1:\(port)/library" }
    }

    /// Answers `GET /bytes/N` with N bytes and `GET /library` with JSON, until the parent has ended.
    static func serve() async throws {
        let router = Router(), piece = ByteBuffer(repeating: 0x78, count: 64 << 10)
        let library = BenchLibrary(count: 15)
        router.get("/bytes/:count") { _, context in
            let count = try context.parameters.require("count", as: Int.self)
            let body = ResponseBody(contentLength: count) { writer in
                var left = count
                while left > 0 {
                    let length = min(left, piece.readableBytes)
                    try await writer.write(piece.getSlice(at: 0, length: length) ?? piece)
                    left -= length
                }
                try await writer.finish(nil)
            }
            return Response(status: .ok, body: body)
        }
        router.get("/library") { request, context in
            try context.responseEncoder.encode(library, from: request, context: context)
        }
        try await Child.announce(Ports(port: try await listen(router)))
    }

    /// Runs an application until the process ends, and returns its port.
    static func listen(_ router: Router<BasicRequestContext>) async throws -> Int {
        let (ports, bound) = AsyncThrowingStream.makeStream(of: Int.self)
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in bound.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        Task {
            do {
                try await application.run()
                bound.finish()
            } catch {
                bound.finish(throwing: error)
            }
        }
        guard let port = try await ports.first(where: { _ in true }) else {
            throw BackplaneError(.componentFailed, "an application stopped before it served")
        }
        return port
    }
}

/// The JSON value that loads decode.
struct BenchLibrary: Codable, Sendable {
    struct Volume: Codable, Sendable {
        var number: Int
        var title: String
        var author = "Jules Verne"
        var isLent: Bool
    }
    var volumes: [Volume]

    init(count: Int) {
        volumes = (0..<count).map { Volume(number: $0, title: "Volume \($0)", isLent: $0 % 2 == 0) }
    }
}
