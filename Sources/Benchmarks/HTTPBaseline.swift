import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore

/// The baseline of exchanges: AsyncHTTPClient without Backplane, configured as the executor configures it.
struct BareHTTP: Sendable {
    private let client: HTTPClient

    init() {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)), decompression: .disabled)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(configuration: configuration)
    }

    /// Returns a collected response.
    func get(_ url: String) async throws -> [UInt8] {
        let response = try await client.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
        return Array(buffer: try await response.body.collect(upTo: 1 << 20))
    }

    /// Returns a value that is decoded from a response.
    func load<Value: Decodable>(_ type: Value.Type, _ url: String) async throws -> Value {
        let response = try await client.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
        let body = try await response.body.collect(upTo: 1 << 20)
        return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
    }

    /// Writes a response to a file, moves the file to its destination, and returns the length.
    func download(_ url: String, to path: String) async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
        let incoming = path + ".incoming", file = open(incoming, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw POSIXError(.EIO) }
        defer { close(file) }
        var count = 0
        for try await buffer in response.body {
            let written = buffer.withUnsafeReadableBytes { write(file, $0.baseAddress, $0.count) }
            guard written == buffer.readableBytes else { throw POSIXError(.EIO) }
            count += written
        }
        guard rename(incoming, path) == 0 else { throw POSIXError(.EIO) }
        return count
    }

    func shutdown() async { try? await client.shutdown().get() }
}
