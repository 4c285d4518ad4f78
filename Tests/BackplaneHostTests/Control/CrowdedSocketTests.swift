import Backplane
import BackplaneTestKit
import Glibc
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

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
