import Foundation
import Glibc

/// A connection to a port of 127.0.0.1 that sends bytes unchanged, for requests that no HTTP client would make.
public final class RawClient {
    private let descriptor: Int32
    private var received: [UInt8] = []

    public init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// Sends lines, separated by CR LF, as far as the server accepts them.
    public func send(_ lines: String...) {
        var rest = Array(lines.joined(separator: "\r\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Ends sending.
    public func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Receives text up to and including a marker or, without a marker, up to the end of the connection.
    public func receive(to marker: String? = nil) -> String {
        while true {
            if let marker, let end = received.firstRange(of: Array(marker.utf8))?.upperBound { return take(end) }
            guard fill() else { return String(decoding: received, as: UTF8.self) }
        }
    }

    /// Receives text of a length in bytes, or less at the end of the connection.
    public func receive(count: Int) -> String {
        while received.count < count, fill() {}
        return take(min(count, received.count))
    }

    private func take(_ count: Int) -> String {
        defer { received.removeFirst(count) }
        return String(decoding: received.prefix(count), as: UTF8.self)
    }

    /// Receives more; returns `false` at the end of the connection.
    private func fill() -> Bool {
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        received += bytes
        return !bytes.isEmpty
    }
}
