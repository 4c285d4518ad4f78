import AsyncHTTPClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1

/// The baseline of the HTTP rows: AsyncHTTPClient without Backplane, configured as the executor configures it.
struct BareHTTP: Sendable {
    /// The number of bytes of a file that are read at once, as for the body of a request.
    fileprivate static let pieceSize = 128 << 10
    private let client: HTTPClient

    init() {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)), decompression: .disabled)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(configuration: configuration)
    }

    /// Returns the number of bytes of a response, which is collected.
    func get(_ url: String) async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
        return Array(buffer: try await response.body.collect(upTo: 1 << 20)).count
    }

    /// Returns a value that is decoded from a response.
    func load<Value: Decodable>(_ type: Value.Type, _ url: String) async throws -> Value {
        let response = try await client.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
        let body = try await response.body.collect(upTo: 16 << 20)
        return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
    }

    /// Writes a response to a file, which is moved to its destination at the end.
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

    /// Sends a file, which is read while it is sent, and returns the status of the response.
    func upload(_ path: String, length: Int, to url: String) async throws -> Int {
        var request = HTTPClientRequest(url: url)
        request.method = .PUT
        request.body = .stream(FileChunks(path: path), length: .known(Int64(length)))
        let response = try await client.execute(request, deadline: .distantFuture)
        _ = try await response.body.collect(upTo: 1 << 20)
        return Int(response.status.code)
    }

    func shutdown() async { try? await client.shutdown().get() }
}

/// A file in pieces.
private struct FileChunks: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let path: String

    final class Iterator: AsyncIteratorProtocol {
        private let file: Int32

        init(_ path: String) { file = open(path, O_RDONLY | O_CLOEXEC) }

        deinit { close(file) }

        func next() async throws -> ByteBuffer? {
            let bytes = [UInt8](unsafeUninitializedCapacity: BareHTTP.pieceSize) { buffer, count in
                count = Swift.max(0, read(file, buffer.baseAddress, buffer.count))
            }
            return bytes.isEmpty ? nil : ByteBuffer(bytes: bytes)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(path) }
}
