import Foundation
public import Glibc

/// A socket that reserves a free port of 127.0.0.1, and closes with its last user.
public final class LoopbackSocket: Sendable {
    /// The file descriptor, which is closed with the socket.
    public let descriptor: Int32
    /// The TCP port on the loopback interface, chosen by the system.
    public let port: UInt16

    /// Reserves a free port.
    ///
    /// - Parameter backlog: The number of connections that wait to be accepted; if `nil`, the socket does not listen,
    ///   and connections are refused.
    public init(backlog: Int32?) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { [descriptor] address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) != 0 || backlog.map { listen(descriptor, $0) != 0 } ?? false
                    || getsockname(descriptor, address, &length) != 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard !failed else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// Lends the address to connect to.
    public func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: Self.address(port: port)) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        return address
    }
}
