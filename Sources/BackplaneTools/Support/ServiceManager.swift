import BackplaneHost
import Glibc

/// The service manager that started this process and waits for messages about its state, such as systemd.
///
/// Messages are datagrams to the socket in `NOTIFY_SOCKET`, as in sd_notify(3).
package struct ServiceManager: Sendable {
    /// The path of the socket or, with a leading `@`, its abstract name.
    private let socket: String
    /// The interval within which the manager expects a watchdog message; `nil` if it expects none.
    package let watchdog: Duration?

    /// Reads the environment; returns `nil` if no service manager waits for this process.
    package init?() {
        self.init { ProcessEnvironment.value($0) }
    }

    init?(environment: (String) -> String?) {
        guard let socket = environment("NOTIFY_SOCKET"), let first = socket.first, "/@".contains(first) else {
            return nil
        }
        self.socket = socket
        let isForThis = environment("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
        watchdog =
            isForThis
            ? environment("WATCHDOG_USEC").flatMap(Int64.init).flatMap { $0 > 0 ? .microseconds($0) : nil } : nil
    }

    /// Sends a message, such as `READY=1`, and returns whether it was sent.
    ///
    /// A message that cannot be sent immediately is lost, because the process never waits for its manager.
    @discardableResult
    package func tell(_ message: String) -> Bool {
        let descriptor = Glibc.socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un(), name = Array(socket.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard name.count < room else { return false }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // An abstract name ends with the address, and a path with a zero byte.
        let length = MemoryLayout<sockaddr_un>.size - room + name.count + (name[0] == 0 ? 0 : 1)
        let bytes = Array(message.utf8)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        } == bytes.count
    }

    /// Sends a watchdog message twice in each interval, if there is one, until the task is cancelled.
    ///
    /// - Parameter isAlive: A function that returns once the process has proved that it is responsive.
    package func keepAlive(_ isAlive: @Sendable () async -> Void) async {
        guard let watchdog else { return }
        while !Task.isCancelled {
            await isAlive()
            tell("WATCHDOG=1")
            try? await Task.sleep(for: watchdog / 2)
        }
    }
}
