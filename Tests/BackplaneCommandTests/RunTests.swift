import Foundation
import Glibc
import TestFixtures
import Testing

/// `backplane run`: up, until a signal.
@Suite(.timeLimit(.minutes(10)))
struct RunTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test(arguments: [SIGINT])
    func `it says what is up, and stops in order when it is asked to`(signal: Int32) async throws {
        let running = try await tool.startRun(Tool.almanac, "--log-level", "debug")
        let table = running.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(table[0] == ["MANAGER", "CLASS", "VERSION", "PLUGIN", "STATE"])
        #expect(table[1] == ["AlmanacManager", "AlmanacManager", "1.0.0", "org.backplane.almanac", "ready"])
        #expect(table[2] == ["ClockManager", "ClockManager", "1.0.0", "org.backplane.clock", "ready"])
        #expect(tool.loadFolders().count == 1)

        running.signal(signal)
        let outcome = await running.end()

        #expect(outcome.status == 0)
        #expect(outcome.output.hasSuffix("\(signal == SIGINT ? "SIGINT" : "SIGTERM"): stopping\nstopped\n"))
        #expect(tool.loadFolders() == [])
        let stopped = outcome.errors.split(separator: "\n").filter { $0.contains("stopped") }
        #expect(stopped.count == 5, "\(outcome.errors)")
        // The clock came up beside the almanac, at whatever moment.
        let order = ["AlmanacManager", "AlmanacCommunication", "EventFeedService", "AlmanacStore"]
        for (line, name) in zip(stopped.filter { !$0.contains("component=ClockManager") }, order) {
            #expect(line.contains("component=\(name)"), "\(line)")
        }
    }

    @Test func `a manifest with an error, or a component that does not start, ends it with nothing left`() async throws
    {
        let faulty = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {"Clock": {"className": "ClockManager"}, "A": {"className": "X"}, "B": {}}}"#,
            as: "faulty.json")
        let refused = try await tool.run("run", faulty)
        #expect(refused.status == 1 && refused.output == "")
        #expect(refused.errors.contains("/managers/A/className") && refused.errors.contains("/managers/B/className"))
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"A": {"className": "ChallengeManager"}, "B": {"className": "TrialManager", "configuration": {"refusesToStart": true}}}}"#,
            as: "m.json")
        let outcome = try await tool.run("run", path, "--log-level", "info")
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors.contains("/managers/B: component.failed (trial.trouble): not today"))
        #expect(outcome.errors.contains("stop"), "A was up and has stopped")
        #expect(tool.loadFolders() == [])
    }

    @Test func `a signal while a start hangs gives it up, and what is up stops in order`() async throws {
        let path = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"A": {"className": "ChallengeManager"}, "B": {"className": "TrialManager", "configuration": {"neverStarts": true}}}}"#,
            as: "m.json")
        let running = try tool.start([
            "run", path, "--data", tool.data, "--load-folder", tool.loads, "--log-level", "debug",
        ])
        // The host's own line: before it A itself might be given up.
        #expect(await running.logs("component=A"))
        running.signal(SIGINT)
        let outcome = await running.end()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "SIGINT: stopping\nstopped\n")
        #expect(outcome.errors.contains("stop"), "A was up and has stopped")
        #expect(tool.loadFolders() == [])
    }

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
