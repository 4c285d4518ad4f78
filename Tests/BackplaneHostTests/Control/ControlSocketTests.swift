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

/// Clients that take all there is to take, and the operator who still gets through.
@Suite(.timeLimit(.minutes(5)))
struct CrowdedSocketTests {
    /// Limits of which a test that waits for a place never sees the end.
    private let strict = ControlLimits(
        reading: .seconds(600), connections: 2, reserved: 1, waiting: .seconds(100_000))
    private let slowCall = #"{"request": "call", "manager": "Trial", "method": "wait", "input": "3600"}"# + "\n"

    @Test func `slow calls take no place of what ends trouble`() async throws {
        let fixture = try ControlFixture(limits: strict)
        // More than there are places: the others wait.
        let calls = try (0..<8).map { _ in try fixture.connect(slowCall) }
        await eventually { await fixture.host.statistics.contains { $0.component == "Trial" && $0.inFlight == 2 } }
        _ = try await fixture.ask(StatisticsRequest()).get()
        _ = try await fixture.ask(HelloRequest()).get()
        _ = try await fixture.ask(GenerationsRequest()).get()
        let rollback = await fixture.ask(RollbackRequest(plugin: "nobody's"))
        #expect(throws: BackplaneError.self) { try rollback.get() }
        let swap = await fixture.ask(SwapRequest(libraries: ["/nowhere/libNothing.so"]))
        let error = #expect(throws: BackplaneError.self) { try swap.get() }
        #expect(error?.code != .controlBusy, "\(String(describing: error))")
        withExtendedLifetime(calls) {}
        await fixture.control.finish(within: .seconds(60))
    }

    @Test func `where there are too many connections the oldest that has sent nothing makes room, and is told`()
        async throws
    {
        var limits = ControlLimits(reading: .seconds(100_000))
        limits.clients = 4
        let fixture = try ControlFixture(limits: limits)
        let silent = try (0..<4).map { _ in try fixture.connect("{") }
        await fixture.expectUnharmed()
        let told = await onThread { try? silent[0].rest(until: .now + .seconds(60)) }
        #expect(told?.contains("control.busy") == true && told?.contains("has not sent its request") == true)
        // A connection may keep its place for a moment after its answer.
        for _ in 0..<20 { await eventually { await (try? fixture.answer().get()) != nil } }
        await fixture.control.finish(within: .seconds(60))
    }

    @Test func `large requests share a bounded memory, and small ones do not wait for it`() async throws {
        var limits = ControlLimits(reading: .seconds(100_000), waiting: .milliseconds(20))
        limits.memory = 1 << 20
        let fixture = try ControlFixture(limits: limits)
        let large = String(repeating: "x", count: 1 << 20)
        let first = try fixture.connect(large)
        let second = try await fixture.exchange(Array((large + large).utf8))
        #expect(second.contains("control.busy") && second.contains("1 MB"), "\(second)")
        await fixture.expectUnharmed()
        _ = first.peerUser
    }

    @Test func `work of a client that is gone ends`() async throws {
        struct Watch: ControlMessage {
            static let name = "watch"
            typealias Answer = Int
        }
        let events = Recording<String>()
        let request = ControlRequest(Watch.self, endsWithClient: true) { _, _ in
            events.add("begun")
            do { try await Task.sleep(for: .seconds(3_600)) } catch { events.add("cancelled") }
            return 0
        }
        let fixture = try ControlFixture(requests: [request])
        var client: LocalSocket? = try fixture.connect(#"{"request": "watch"}"# + "\n")
        try await events.until { $0 == ["begun"] }
        _ = client?.peerUser
        client = nil
        try await events.until { $0 == ["begun", "cancelled"] }
    }

    @Test func `a socket whose file was removed is made again, with its folder`() async throws {
        let fixture = try ControlFixture(), path = fixture.control.path
        for removed in [[path], [path, fixture.folder.path + "/lock", fixture.folder.path]] {
            // The host may make it again before the folder is empty.
            while FileContents.exists(removed[removed.count - 1]) { for path in removed { remove(path) } }
            await eventually { LocalSocket.isListenedTo(at: path) && FileContents.exists(path) }
            #expect(try FileStatus(at: path).modeText == "600")
            await fixture.expectUnharmed()
        }
        fixture.control.close()
        #expect(!FileContents.exists(path))
    }

    @Test func `a manifest without managers is activated only if that is meant`() async throws {
        let fixture = try ControlFixture()
        try await fixture.host.start()
        for text in ["{}", #"{"manifestVersion": 1, "plugins": [], "managers": {}}"#] {
            let path = try fixture.test.files.write(Array(text.utf8), as: "empty")
            let answer = await fixture.ask(ApplyRequest(RequestedManifest(path)))
            let error = #expect(throws: BackplaneError.self) { try answer.get() }
            #expect(error?.code == .manifestEmpty && error?.message.contains("--empty") == true)
            #expect(await fixture.host.managers.map(\.state) == [.ready])
        }
        let path = try fixture.test.files.write(Array("{}".utf8), as: "empty")
        #expect(
            try await fixture.ask(ApplyRequest(RequestedManifest(path, mayBeEmpty: true))).get().managers.stopped == [
                "Trial"
            ])
    }
}

/// Clients that do what none should, and a host that does not mind.
@Suite(.timeLimit(.minutes(10)))
struct RudeClientTests {
    @Test(arguments: [
        ("", "expected"), ("fly", "expected"), ("{", "expected"), ("[]", "expected"), ("null", "expected"),
        ("{}", "`request` is missing"),
        (#"{"request": 7}"#, "expected"), (#"{"request": "fly"}"#, "unknown request `fly`; expected one of: `apply`"),
        (#"{"request": "swop"}"#, "did you mean `swap`?"),
        (#"{"request": "swap"}"#, "`libraries` is missing"),
        (#"{"request": "swap", "libraries": "Clock"}"#, "expected an array"),
        (#"{"request": "reset", "manger": "Trial"}"#, "no such key"),
        (#"{"request": "call", "manager": "Trial", "method": "path", "input": 7}"#, "expected a string"),
        (#"{"request": "hello"} {"request": "hello"}"#, "expected"),
        (#"{"request": "reset", "protocol": 2}"#, "supports protocol 1, but the request uses protocol 2"),
        ("\u{0}\u{1}\u{2}", "expected"), (String(repeating: "[", count: 500_000), "expected"),
        (#"{"request": "reset", "manager": "# + String(repeating: "[", count: 500_000), "expected"),
        (
            #"{"request": "reset", "manager": "# + String(repeating: #"{"a":"#, count: 100_000) + "1"
                + String(repeating: "}", count: 100_001), "expected"
        ),
    ])
    func `a malformed request is answered with its mistake, and has no other effect`(text: String, says: String)
        async throws
    {
        let fixture = try ControlFixture()
        let answer = try await fixture.exchange(text + "\n")
        #expect(answer.hasPrefix(#"{"error":{"#) && answer.hasSuffix("}\n"), "\(answer.prefix(300))")
        #expect(answer.contains(says), "\(answer.prefix(300))")
        #expect(answer.utf8.count < 2_000)
        await fixture.expectUnharmed()
    }

    @Test func `a hundred megabytes without a newline are not read to their end`() async throws {
        let fixture = try ControlFixture(limits: ControlLimits(reading: .seconds(60)))
        let answer = try await fixture.exchange([UInt8](repeating: UInt8(ascii: "x"), count: 100 << 20))
        #expect(answer.contains("control.malformed") && answer.contains("at most 64 MB"), "\(answer)")
        await fixture.expectUnharmed()
    }

    @Test func `half a request is answered with an error, if the client still listens`() async throws {
        let fixture = try ControlFixture()
        let answer = try await fixture.exchange(Array(#"{"request": "hello"}"#.utf8), thenShutsDown: true)
        #expect(answer.contains("expected a newline"))
        #expect(try await fixture.exchange([], thenShutsDown: true) == "", "who says nothing is told nothing")
        await fixture.expectUnharmed()
    }

    @Test func `a client that does not read its answer delays no others`() async throws {
        // A place is waited for while the answer is made, but for less than the time that is usual for writing it.
        let fixture = try ControlFixture(
            limits: ControlLimits(
                reading: .seconds(600), writing: .milliseconds(100), connections: 1, waiting: .seconds(20)))
        let deaf = try LocalSocket(connectingTo: fixture.control.path, within: .seconds(60))
        // More than a socket holds for who does not read.
        let input = "\"" + String(repeating: "a", count: 4 << 20) + "\""
        let line = try JSON.encode(
            ControlText.Line(message: CallRequest(manager: "Trial", method: "fail", input: input, timeout: nil)),
            failing: .controlFailed)
        await onThread { try? deaf.write(line + [ControlProtocol.newline], until: .now + .seconds(60)) }
        await fixture.expectUnharmed()
        _ = deaf.peerUser
    }

    @Test func `fifty at once are all answered`() async throws {
        let fixture = try ControlFixture(limits: ControlLimits(reading: .seconds(600), waiting: .seconds(60)))
        let answers = await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    await fixture.ask(CallRequest(manager: "Trial", method: "wait", input: "0.0", timeout: nil))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 50 && answers.allSatisfy { (try? $0.get()) != nil })
    }
}

/// The end of a host, of which everybody who has asked it something is told.
@Suite(.timeLimit(.minutes(5)))
struct OrderedEndTests {
    private let slowCall = CallRequest(manager: "Trial", method: "wait", input: "3600", timeout: .seconds(3_600))

    /// Waits until the plugin has the calls: the host's statistics count them before that.
    private func eventuallyInFlight(_ count: Int, _ host: PluginHost) async throws {
        let calls = try await host.coordinator.running("Trial").calls
        await eventually { Callbacks.callsUnderWay(of: calls).count == count }
    }

    @Test func `a call under way ends with the host, whose log names what was left`() async throws {
        let test = try TestHost(managers: ControlFixture.managers, from: .linked, stopLimit: .milliseconds(20))
        let call = Task { await error { try await test.call("Trial", "wait", "3600") } }
        try await eventuallyInFlight(1, test.host)
        try await test.expiring(.milliseconds(20), .milliseconds(20)) { await test.host.stop() }
        #expect(await call.value?.code == .hostStopped)
        let line = try #require(test.log.records.first { $0.level == .error })
        #expect(line.metadata["component"] == "Trial" && line.metadata["methods"] == "wait", "\(line)")
    }

    @Test func `each client that waits is told before the end`() async throws {
        let fixture = try ControlFixture(stopLimit: .milliseconds(20)), slowCall = slowCall
        let calls = (0..<4).map { _ in Task { await fixture.ask(slowCall) } }
        try await eventuallyInFlight(4, fixture.host)
        let silent = try fixture.connect("{")
        fixture.control.close()
        try await fixture.test.expiring(.milliseconds(20), .milliseconds(20)) { await fixture.host.stop() }
        #expect(await fixture.control.finish(within: .seconds(60)) == [])
        for call in calls {
            let answer = await call.value
            #expect(answer.code == .hostStopped)
        }
        let told = await onThread { try? silent.rest(until: .now + .seconds(60)) }
        #expect(told?.contains("host.stopped") == true)
    }

    @Test func `who connects while the host stops is told`() async throws {
        let fixture = try ControlFixture()
        await fixture.host.stop()
        let late = await fixture.ask(slowCall)
        #expect(late.code == .hostStopped)
    }
}

/// Plugins that keep every thread of Swift's pool do not keep the control socket from answering.
@Suite(.timeLimit(.minutes(10)), .disabled(if: OccupiedPoolProgram.isSanitized, OccupiedPoolProgram.sanitized))
struct OccupiedPoolTests {
    @Test func `a host whose plugins occupy every thread answers, and gives up at its time limit what waits for them`()
        async throws
    {
        let folder = try TestFolder()
        let lines = try await OccupiedPoolProgram.lines(["asked", folder.path], in: folder)
        #expect(lines == ["process true", "statistics true", "manager.unknown", "call.deadline"])
    }

    @Test func `a host whose plugins occupy every thread stops, and says what was left`() async throws {
        let folder = try TestFolder()
        let lines = try await OccupiedPoolProgram.lines(["stopped", folder.path], in: folder)
        #expect(lines == ["stopped true", "BusyLoop: not stopped: calls to it have not ended"])
    }
}

/// A host that listens in a folder of its own, and its clients.
final class ControlFixture: Sendable {
    let test: TestHost
    let control: ControlSocket
    var host: PluginHost { test.host }
    var folder: ControlFolder { ControlFolder(test.folder + "/run") }
    var client: ControlClient { ControlClient(control.path) }

    static let managers = #""Trial": {"className": "TrialManager"}"#

    init(
        managers: String = managers, requests: [ControlRequest] = [],
        limits: ControlLimits = ControlLimits(reading: .seconds(600)), stopLimit: Duration = .seconds(60)
    ) throws {
        test = try TestHost(managers: managers, from: .linked, stopLimit: stopLimit)
        control = try ControlSocket(
            serving: test.host, in: test.folder + "/run", requests: requests, limits: limits)
    }

    deinit { control.close() }

    /// Asks on a thread of its own, so that Swift's pool is left to who answers.
    func ask<Message: ControlMessage>(_ message: Message, _ events: Recording<ControlEvent> = Recording()) async
        -> Result<Message.Answer, BackplaneError>
    {
        await onThread { [client] in
            do throws(BackplaneError) {
                return .success(try client.ask(message, report: { events.add($0) }))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Sends bytes as they are and gives what comes back until the host hangs up.
    func exchange(_ bytes: [UInt8], thenShutsDown: Bool = false) async throws -> String {
        let path = control.path
        return try await onThread { () -> Result<String, SystemError> in
            do throws(SystemError) {
                let socket = try LocalSocket(connectingTo: path, within: .seconds(60)),
                    deadline = Deadline.now + .seconds(60)
                do throws(SystemError) { try socket.write(bytes, until: deadline) } catch {
                    if error.number != EPIPE && error.number != ECONNRESET { throw error }
                }
                if thenShutsDown { shutdown(socket.descriptor.number, Int32(SHUT_WR)) }
                return .success(try socket.rest(until: deadline))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Connects and sends bytes, and leaves it at that.
    func connect(_ text: String = "") throws -> LocalSocket {
        let socket = try LocalSocket(connectingTo: control.path, within: .seconds(60))
        if !text.isEmpty { try socket.write(Array(text.utf8), until: .now + .seconds(60)) }
        return socket
    }

    func exchange(_ text: String) async throws -> String { try await exchange(Array(text.utf8)) }

    /// Expects that the host answers as it did before.
    func expectUnharmed(_ location: SourceLocation = #_sourceLocation) async {
        let answer = await answer()
        #expect(throws: Never.self, sourceLocation: location) { try answer.get() }
    }

    /// The answer to a call that always succeeds.
    func answer() async -> Result<CallRequest.Answer, BackplaneError> {
        await ask(CallRequest(manager: "Trial", method: "path", input: nil, timeout: nil))
    }
}

extension LocalSocket {
    /// Everything that comes until the other end hangs up.
    func rest(until deadline: Deadline) throws(SystemError) -> String {
        var bytes: [UInt8] = []
        do throws(SystemError) { while try read(into: &bytes, limit: 4_096, until: deadline) {} } catch {
            if error.number != ECONNRESET { throw error }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Runs what blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        _ = HostThread.tryStart("test") { continuation.resume(returning: body()) }
    }
}
