import Backplane
import BackplaneTestKit
import Glibc
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// What a running host answers, and to whom.
@Suite(.timeLimit(.minutes(10)))
struct ControlSocketTests {
    @Test func `it identifies the host, whatever the client's protocol`() async throws {
        let fixture = try ControlFixture()
        let greeting = try await fixture.ask(HelloRequest()).get()
        #expect(greeting.protocol == ControlProtocol.number && greeting.version == HostVersion.text)
        #expect(greeting.process == getpid())
        #expect(greeting.manifest == fixture.test.folder + "/manifest" && greeting.environment == nil)
        #expect(
            greeting.requests == greeting.requests.sorted() && greeting.requests.contains("swap")
                && greeting.requests.contains("hello"))
        let later = try await fixture.exchange(#"{"request": "hello", "protocol": 99, "colour": "blue"}"# + "\n")
        #expect(later.hasPrefix(#"{"result":{"#))
    }

    @Test func `a client hears the host's events, and they are what was sent`() async throws {
        let fixture = try ControlFixture(), heard = Recording<HostEvent>(), listening = Recording<ControlEvent>()
        let client = fixture.client
        async let answer = onThread { () -> Result<EventsRequest.Answer, BackplaneError> in
            do throws(BackplaneError) {
                return .success(
                    try client.ask(
                        EventsRequest(limit: 3),
                        report: { listening.add($0) },
                        element: {
                            if let event = try? JSON.decode(
                                HostEvent.self, Array($0.utf8), failing: .controlProtocol)
                            {
                                heard.add(event)
                            }
                        }))
            } catch {
                return .failure(error)
            }
        }
        _ = try await listening.first(1)
        try await fixture.host.start()
        let change = try await fixture.host.reset()
        let thrown = await error { try await fixture.host.reset("Nobody") }
        #expect(try await answer.get().elements == 3)
        #expect(
            heard.all.map(\.kind) == [
                .started(managers: ["Trial"]), .reset(report: change),
                .failed(operation: .reset, error: try #require(thrown)),
            ])
    }

    @Test func `the socket and its folder are the user's alone`() throws {
        let fixture = try ControlFixture()
        #expect(try FileStatus(at: fixture.control.path).modeText == "600")
        #expect(try FileStatus(at: fixture.folder.path).modeText == "700")
        fixture.control.close()
        #expect(!FileContents.exists(fixture.control.path))
    }

    @Test func `a folder that others can write to is refused, by hosts and by clients`() throws {
        let folder = try TestFolder(), path = try folder.makeFolder("run", mode: 0o777),
            host = try TestHost(managers: "", from: .linked).host
        let refusal = #expect(throws: BackplaneError.self) { try ControlSocket(serving: host, in: path) }
        #expect(
            refusal?.code == .controlUnusable && refusal?.location == path
                && refusal?.message.contains("without a control socket") == true)
        #expect(throws: BackplaneError.self) { try RunningHost.all(in: ControlFolder(path)) }
    }

    @Test func `calls go through it byte for byte, and errors arrive whole`() async throws {
        let fixture = try ControlFixture()
        let answer = try await fixture.ask(
            CallRequest(manager: "Trial", method: "wait", input: " 0.0 ", timeout: .seconds(60))
        )
        .get()
        #expect(answer.output.hasPrefix("\""))
        let failure = await fixture.ask(CallRequest(manager: "Trial", method: "fail", input: "\"four\"", timeout: nil))
        let error = #expect(throws: BackplaneError.self) { try failure.get() }
        #expect(
            error?.failure == BackplaneError.Failure(code: "trial.trouble", details: ["length": "4"])
                && error?.message == "four")
        let unknown = await fixture.ask(CallRequest(manager: "Trail", method: "fail", input: nil, timeout: nil))
        let suggestion = #expect(throws: BackplaneError.self) { try unknown.get() }
        #expect(suggestion?.code == .unknownManager && suggestion?.message.contains("`Trial`?") == true)
    }

    @Test func `a manifest is activated, and the greeting contains it`() async throws {
        let fixture = try ControlFixture(),
            path = try fixture.test.files.write(
                Array(
                    #"{"manifestVersion": 1, "environments": {"night": {}}, "managers": {"Other": {"className": "TrialManager"}}}"#
                        .utf8), as: "other")
        try await fixture.host.start()
        let change = try await fixture.ask(ApplyRequest(RequestedManifest(path, environment: "night"))).get()
        #expect(change.managers.started == ["Other"] && change.managers.stopped == ["Trial"])
        let greeting = try await fixture.ask(HelloRequest()).get()
        #expect(greeting.manifest == path && greeting.environment == "night")
        #expect(try await fixture.ask(ApplyRequest(RequestedManifest(path))).get().managers.kept == ["Other"])
        #expect(try await fixture.ask(HelloRequest()).get().environment == "night", "the active one is kept")
        #expect(try await fixture.ask(ResetRequest(manager: "Other")).get().managers.restarted == ["Other"])
        let relative = await fixture.ask(ApplyRequest(RequestedManifest("other")))
        #expect(throws: BackplaneError.self) { try relative.get() }
    }

    @Test func `a program answers requests of its own, and reports how far they are`() async throws {
        struct Count: ControlMessage {
            static let name = "count"
            typealias Answer = [Int]
            var to: Int
        }
        let count = ControlRequest(Count.self, endsWithClient: false) { _, message, work throws(BackplaneError) in
            for number in 1...message.to { work.report(ControlEvent("\(number)")) }
            return Array(1...message.to)
        }
        let fixture = try ControlFixture(requests: [count]), events = Recording<ControlEvent>()
        #expect(try await fixture.ask(Count(to: 3), events).get() == [1, 2, 3])
        #expect(events.all.map(\.text) == ["1", "2", "3"])
    }

    @Test func `several of one process are told apart, and only living ones are found`() throws {
        let fixture = try ControlFixture()
        let second = try ControlSocket(serving: fixture.host, in: fixture.folder.path)
        #expect(try RunningHost.all(in: fixture.folder).map(\.socket) == [fixture.control.path, second.path].sorted())
        second.close()
        #expect(try RunningHost.all(in: fixture.folder).map(\.socket) == [fixture.control.path])
        #expect(try RunningHost.all(in: ControlFolder(fixture.folder.path + "/none")) == [])
    }

    @Test func `the socket of a killed host is passed over, and removed by the next host`() throws {
        let fixture = try ControlFixture(), stale = fixture.folder.path + "/host-1.sock",
            other = fixture.folder.path + "/notes.sock"
        try leaveSocket(at: stale)
        try leaveSocket(at: other)
        #expect(try RunningHost.all(in: fixture.folder).map(\.socket) == [fixture.control.path])
        let error = #expect(throws: BackplaneError.self) { try ControlClient(stale).greet() }
        #expect(error?.code == .controlUnreachable && error?.location == stale)
        let next = try ControlSocket(serving: fixture.host, in: fixture.folder.path)
        #expect(
            !FileContents.exists(stale) && FileContents.exists(fixture.control.path)
                && FileContents.exists(next.path))
        #expect(FileContents.exists(other), "what is no host's is left alone")
    }

    /// What a process leaves that is killed while it listens.
    private func leaveSocket(at path: String) throws {
        let descriptor = try LocalSocket.open(blocking: true)
        try LocalAddress.call(path) { bind(descriptor.number, $0, $1) }
    }
}
