import Backplane
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// Which of several running hosts a command is for.
struct HostChoiceTests {
    private func host(_ process: Int32, _ manifest: String?) -> RunningHost {
        let greeting = HostGreeting(
            protocol: 1, version: "0.1.0", process: process, manifest: manifest, environment: nil, startedAt: 0,
            requests: [])
        return RunningHost(socket: "/run/host-\(process).sock", greeting: greeting)
    }

    private let silent = RunningHost(
        socket: "/run/host-9.sock", greeting: nil,
        problem: BackplaneError(.controlUnreachable, "the host does not answer in time"))

    /// The process of the chosen one; or the kind of refusal, and how many hosts are listed.
    private func outcome(_ choice: HostChoice, _ hosts: [RunningHost], here: String? = nil) -> String {
        do throws(HostChoice.Refusal) {
            return "\(try choice.choose(among: hosts, here: here).greeting?.process ?? 0)"
        } catch {
            switch error {
            case .none(let error): return "none: \(error.code)"
            case .absent(let hosts, _): return "absent: \(hosts.count)"
            case .unclear(let hosts, _): return "unclear: \(hosts.count)"
            }
        }
    }

    @Test func `the only one is taken, whatever it runs`() {
        #expect(outcome(HostChoice(), [host(1, "/a.json")]) == "1")
        #expect(outcome(HostChoice(), [host(1, nil)], here: "/b.json") == "1")
        #expect(outcome(HostChoice(), []) == "none: control.unreachable")
        #expect(outcome(HostChoice(), [silent]) == "none: control.unreachable")
    }

    @Test func `of several it is the one that runs what is asked for, or what is here`() {
        let hosts = [host(1, "/a.json"), host(2, "/b.json"), host(3, nil), silent]
        #expect(outcome(HostChoice(manifest: "/b.json"), hosts) == "2")
        #expect(outcome(HostChoice(manifest: "/x/../b.json"), hosts) == "2")
        #expect(outcome(HostChoice(), hosts, here: "/a.json") == "1")
        #expect(outcome(HostChoice(), hosts) == "unclear: 4")
        #expect(outcome(HostChoice(), hosts, here: "/c.json") == "unclear: 4")
    }

    @Test func `two of one manifest are listed, without the others`() {
        let hosts = [host(1, "/a.json"), host(2, "/a.json"), host(3, "/b.json")]
        #expect(outcome(HostChoice(manifest: "/a.json"), hosts) == "unclear: 2")
        #expect(outcome(HostChoice(), hosts, here: "/a.json") == "unclear: 3")
    }

    @Test func `a manifest that no host runs selects the only host if that is allowed`() {
        #expect(outcome(HostChoice(manifest: "/c.json"), [host(1, "/a.json")]) == "absent: 1")
        #expect(outcome(HostChoice(manifest: "/c.json", takesAnother: true), [host(1, "/a.json")]) == "1")
        #expect(
            outcome(HostChoice(manifest: "/c.json", takesAnother: true), [host(1, "/a.json"), host(2, "/b.json")])
                == "unclear: 2")
    }
}
