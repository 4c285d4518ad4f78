import Backplane
import Testing

@testable import BackplaneCommand
@testable import BackplaneControl
@testable import BackplaneTools

/// Running hosts as they are listed.
@Suite struct HostTableTests {
    private func host(_ process: Int32, _ manifest: String?) -> RunningHost {
        let greeting = HostGreeting(
            protocol: 1, version: "0.1.0", process: process, manifest: manifest, environment: nil, startedAt: 0,
            requests: [])
        return RunningHost(socket: "/run/host-\(process).sock", greeting: greeting)
    }

    private let silent = RunningHost(
        socket: "/run/host-9.sock", greeting: nil,
        problem: BackplaneError(.controlUnreachable, "the host does not answer in time"))

    @Test func `hosts that do not answer are listed with why`() {
        let lines = HostTable.table([host(1, "/a.json"), host(2, nil), silent]).lines(colour: false)
        #expect(
            lines == [
                "PROCESS  MANIFEST                          SOCKET",
                "1        /a.json                           /run/host-1.sock",
                "2        composed in Swift                 /run/host-2.sock",
                "-        the host does not answer in time  /run/host-9.sock",
            ])
    }
}
