#if Engines
import Glibc

/// A connection that sends exactly what it is told, for requests that no client would make.
final class RawConnection {
    private let socket: Int32

    struct Refused: Error {}

    init(to server: RunningServer, at host: (UInt32, UInt32, UInt32, UInt32) = (127, 0, 0, 1)) throws(Refused) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = (host.0 << 24 | host.1 << 16 | host.2 << 8 | host.3).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(socket)
            throw Refused()
        }
    }

    deinit { close(socket) }

    func send(_ lines: String...) {
        let bytes = Array(lines.joined(separator: "\r\n").utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Nothing more is sent.
    func finish() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Waits for some bytes, at most a thousand; empty when the server closed.
    func receive() -> String {
        var bytes = [UInt8](repeating: 0, count: 1_000)
        let count = recv(socket, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
#endif
