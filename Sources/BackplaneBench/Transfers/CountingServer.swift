import BackplaneTestKit
import Foundation
import Synchronization

/// A server of one large file that supports ranges and counts the bytes that it sends in each response.
///
/// It sends as fast as the client reads up to a given offset, and at network speed from there. The kernel's loopback
/// buffers of several megabytes are therefore empty when the client is killed after that offset.
final class CountingServer: Sendable {
    /// A response: the offset in the file at which it begins, and the number of bytes that were passed to the kernel.
    struct Sent: Sendable {
        var start: Int
        var count = 0
        var end: Int { start + count }
    }
    private final class Counts: Sendable {
        let state = Mutex((sent: [Sent](), slowFrom: Int.max))
    }
    private static let fastPiece = 256 << 10, slowPiece = 32 << 10
    /// The pause after each slow piece: 25 MB per second.
    private static let pause = Double(slowPiece) / 25e6
    private let counts: Counts
    private let server: TestServer

    /// Starts a server for a file of the given length, with the content of ``NumberedBytes``.
    init(length: Int) throws {
        let counts = Counts()
        self.counts = counts
        server = try TestServer { request, connection in
            let asked = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let start = min(asked, length)
            let (number, slowFrom) = counts.state.withLock { state in
                state.sent.append(Sent(start: start))
                return (state.sent.count - 1, state.slowFrom)
            }
            let range = start > 0 ? "Content-Range: bytes \(start)-\(length - 1)/\(length)\r\n" : ""
            connection.send(
                "HTTP/1.1 \(start > 0 ? "206 Partial Content" : "200 OK")\r\nETag: \"1\"\r\n\(range)"
                    + "Content-Length: \(length - start)\r\n\r\n")
            var place = start
            while place < length, !connection.wasLeft {
                let isSlow = place >= slowFrom
                let end = min(length, place + (isSlow ? Self.slowPiece : Self.fastPiece), isSlow ? .max : slowFrom)
                counts.state.withLock { $0.sent[number].count += end - place }
                connection.send(NumberedBytes.bytes(place..<end))
                place = end
                if isSlow { Thread.sleep(forTimeInterval: Self.pause) }
            }
        }
    }

    var url: String { server.url("/large") }

    /// The responses so far, in their order.
    var sent: [Sent] { counts.state.withLock { $0.sent } }

    /// Sends later responses slowly from an offset on.
    func slow(from place: Int) { counts.state.withLock { $0.slowFrom = place } }

    func stop() { server.stop() }
}

/// The content of a file whose words are derived from their offsets, so that no part can be mistaken for another.
enum NumberedBytes {
    static func bytes(_ range: Range<Int>) -> [UInt8] {
        let size = MemoryLayout<UInt64>.size, first = range.lowerBound / size
        let words = (first..<(range.upperBound + size - 1) / size).map { place in
            let product = UInt64(place) &* 0x9E37_79B9_7F4A_7C15
            return (product ^ (product >> 29)).littleEndian
        }
        return words.withUnsafeBytes { bytes in
            let part = range.lowerBound - first * size..<range.upperBound - first * size
            return Array(UnsafeRawBufferPointer(rebasing: bytes[part]))
        }
    }

    /// Returns whether a file has the content for the given length.
    static func areIn(_ path: String, length: Int) throws -> Bool {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? file.close() }
        var place = 0
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
            guard place + piece.count <= length, piece == Data(bytes(place..<place + piece.count)) else { return false }
            place += piece.count
        }
        return place == length
    }
}
