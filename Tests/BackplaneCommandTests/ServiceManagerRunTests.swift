import Foundation
import Testing

/// `backplane run` as a service that a manager such as systemd waits for.
@Suite(.timeLimit(.minutes(5)))
struct ServiceManagerRunTests {
    private let tool: Tool
    init() throws { tool = try Tool() }

    /// A socket of a service manager, and the messages that it receives.
    private struct Manager {
        let path: String
        private let descriptor: Int32

        init(at path: String) throws {
            self.path = path
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            try #require(isBound)
        }

        /// The messages from now on.
        func messages() -> AsyncStream<String> {
            let (messages, send) = AsyncStream.makeStream(of: String.self), descriptor = descriptor
            Thread.detachNewThread {
                var bytes = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    guard count > 0 else { return }
                    send.yield(String(decoding: bytes[..<count], as: UTF8.self))
                }
            }
            return messages
        }
    }

    @Test func `it says when the managers are up, shows signs of life, and says that it stops`() async throws {
        let manager = try Manager(at: tool.folder + "/notify.sock")
        var messages = manager.messages().makeAsyncIterator()
        // Seldom enough that its messages never fill the socket, where a further one would be lost.
        let running = try RunningTool(
            ["run", Tool.almanac, "--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: [
                "XDG_RUNTIME_DIR": tool.folder, "NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "2000000",
            ])
        #expect(await messages.next() == "READY=1\nSTATUS=2 managers up")
        for _ in 0..<3 { #expect(await messages.next() == "WATCHDOG=1") }
        running.signal(SIGTERM)
        var last = await messages.next()
        while last == "WATCHDOG=1" { last = await messages.next() }
        #expect(last == "STOPPING=1")
        let outcome = await running.end()
        #expect(outcome.status == 0, "\(outcome.errors)")
    }
}
