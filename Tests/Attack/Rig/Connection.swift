import Foundation
import Glibc

/// A connection to a control socket, by which anything may be sent.
final class Connection: Sendable {
    private let file: Int32

    /// - Parameter patience: The seconds that sending and each wait for an answer may take.
    init?(to path: String, patience: Double) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return nil }
        var limit = timeval(tv_sec: Int(patience), tv_usec: Int(patience.truncatingRemainder(dividingBy: 1) * 1e6))
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(file, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        // The file is closed by `deinit` in either case.
        guard isConnected else { return nil }
    }

    deinit { close(file) }

    /// Sends bytes; `false` where the host takes no more.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    file, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// The last line that comes before the host hangs up, or `nil` where none does in time.
    func answer() -> String? {
        var bytes: [UInt8] = [], part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(file, &part, part.count, 0)
            if count < 0 { return nil }
            if count == 0 { break }
            bytes += part[..<count]
        }
        let lines = bytes.split(separator: 0x0A)
        return lines.last.map { String(decoding: $0, as: UTF8.self) }
    }
}
