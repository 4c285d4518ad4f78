import Glibc
import Testing

@testable import BackplaneTools

/// What the environment says of a service manager.
struct ServiceManagerTests {
    private func manager(_ environment: [String: String]) -> ServiceManager? {
        ServiceManager { environment[$0] }
    }

    @Test func `without a socket there is none`() {
        #expect(manager([:]) == nil)
        #expect(manager(["NOTIFY_SOCKET": "relative/path"]) == nil)
    }

    @Test func `the watchdog's interval is that of this process`() {
        let socket = ["NOTIFY_SOCKET": "/run/some.sock"]
        #expect(manager(socket)?.watchdog == nil)
        let interval = socket.merging(["WATCHDOG_USEC": "1500000"]) { $1 }
        #expect(manager(interval)?.watchdog == .milliseconds(1500))
        #expect(manager(interval.merging(["WATCHDOG_PID": "\(getpid())"]) { $1 })?.watchdog == .milliseconds(1500))
        #expect(manager(interval.merging(["WATCHDOG_PID": "1"]) { $1 })?.watchdog == nil)
        #expect(manager(socket.merging(["WATCHDOG_USEC": "0"]) { $1 })?.watchdog == nil)
    }

    @Test func `a message that nobody takes is lost, and nothing waits`() {
        #expect(manager(["NOTIFY_SOCKET": "/nowhere/some.sock"])?.tell("READY=1") == false)
        #expect(manager(["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)])?.tell("READY=1") == false)
    }
}
