import Backplane
import BackplaneTestKit
import CBackplane
import Glibc
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// Streams that are opened by name, by the host program and over the control socket.
@Suite(.timeLimit(.minutes(10)))
struct NamedStreamTests {
    private func with(_ body: (TestHost, Remote<SequenceWatch>) async throws -> Void) async throws {
        try await Route(lanes: .fastest, isRelayed: false).with(
            "Sequences", as: Sequences.self, others: #", "Watch": {"className": "SequenceWatchManager"}"#
        ) { test, _ in try await body(test, try await test.host.manager("Watch")) }
    }

    private func text(_ stream: NamedElements) async throws -> [String] {
        var elements: [String] = []
        for try await element in stream { elements.append(String(decoding: element, as: UTF8.self)) }
        return elements
    }

    private func stream(_ test: TestHost, _ method: String, _ input: String = "null", within limit: Duration? = nil)
        async throws(BackplaneError) -> NamedElements
    {
        try await test.host.stream("Direct", method, Array(input.utf8), test.host.begin(within: limit))
    }

    @Test func `the elements arrive as JSON, one by one`() async throws {
        try await with { test, _ in
            let numbers = try await text(stream(test, "count", "70"))
            #expect(numbers == (0..<70).map(String.init))
            let volume = try await text(stream(test, "volumes", "1"))
            #expect(volume.count == 1 && volume[0].hasPrefix("{") && volume[0].contains(#""title":"volume 0""#))
        }
    }

    @Test func `what is no stream, or not there, is an error of the first element`() async throws {
        try await with { test, _ in
            let unknown = await error { try await text(stream(test, "coun", "70")) }
            #expect(unknown?.code == .callUnimplemented)
            #expect(unknown?.calls == ["Direct.coun (org.backplane.tests.parity)"])
            let mistyped = await error { try await text(stream(test, "count", "\"many\"")) }
            #expect(mistyped?.code == .callInvalidInput)
            let called = await error { try await test.call("Direct", "count", "1") }
            #expect(called?.code == .callWrongKind)
            let opened = await error {
                let counts = try await test.host.stream("Watch", "counts", Array("null".utf8), test.host.begin())
                for try await _ in counts {}
            }
            #expect(opened?.code == .callWrongKind)
            let late = await error { try await text(stream(test, "count", "1", within: .zero)) }
            #expect(late?.code == .callDeadline)
            let absent = await error {
                try await test.host.stream("Indirect", "count", [], test.host.begin())
            }
            #expect(absent?.code == .unknownManager)
        }
    }

    @Test(arguments: Route.allCases)
    func `open streams, and the elements that were taken, are counted`(route: Route) async throws {
        try await route.with("Sequences", as: Sequences.self) { test, sequences in
            func statistics() async -> StreamStatistics? {
                await test.host.statistics.first { $0.component == "Direct" }?.streams
            }
            #expect(await statistics() == StreamStatistics())
            var iterator = sequences.endless().makeAsyncIterator()
            for _ in 0..<10 { _ = try await iterator.next() }
            let open = try #require(await statistics())
            // Encoded, and before the relay, elements are taken in advance.
            #expect(open.open == 1 && open.opened == 1 && open.elements >= 10)
            if route.lanes == .fastest, !route.isRelayed { #expect(open.elements == 10) }
            for try await _ in sequences.count(100) {}
            _ = consume iterator
            await eventually { await statistics()?.open == 0 }
            let closed = try #require(await statistics())
            #expect(closed.opened == 2 && closed.elements >= 110)
            if route.lanes == .fastest, !route.isRelayed { #expect(closed.elements == 110) }
        }
    }

    // MARK: The control socket

    private func withSocket(
        _ limits: ControlLimits = ControlLimits(),
        _ body: (TestHost, ControlClient, Remote<SequenceWatch>) async throws -> Void
    ) async throws {
        try await with { test, watch in
            let control = try ControlSocket(
                serving: test.host, in: test.folder + "/run", requests: [], limits: limits)
            defer { control.close() }
            try await body(test, ControlClient(control.path), watch)
        }
    }

    private func ask(_ client: ControlClient, _ method: String, _ input: String? = nil, limit: Int? = nil) async
        -> (elements: [String], answer: Result<StreamRequest.Answer, BackplaneError>)
    {
        let request = StreamRequest(
            CallRequest(manager: "Direct", method: method, input: input, timeout: nil), limit: limit)
        return await onThread {
            var elements: [String] = []
            do throws(BackplaneError) {
                let answer = try client.ask(request, element: { elements.append($0) })
                return (elements, .success(answer))
            } catch {
                return (elements, .failure(error))
            }
        }
    }

    @Test func `a client is given each element, and their number at the end`() async throws {
        try await withSocket { _, client, watch in
            let all = await ask(client, "count", "3")
            #expect(all.elements == ["0", "1", "2"])
            #expect(try all.answer.get().elements == 3)
            let some = await ask(client, "endless", limit: 100)
            #expect(some.elements == (0..<100).map(String.init))
            #expect(try some.answer.get().elements == 100)
            try await eventually { try watch.counts().running == 0 }
            let failed = await ask(client, "fail", #""whole""#)
            #expect(failed.elements == ["0", "1"])
            #expect(throws: BackplaneError.self) { try failed.answer.get() }
            let refused = await ask(client, "count", "1", limit: 0)
            let error = #expect(throws: BackplaneError.self) { try refused.answer.get() }
            #expect(error?.code == .controlMalformed && error?.location == "/limit")
        }
    }

    @Test func `streams keep out no other request, and are bounded`() async throws {
        var limits = ControlLimits()
        (limits.lasting, limits.connections) = (3, 1)
        try await withSocket(limits) { _, client, watch in
            let line = Array((#"{"request": "stream", "manager": "Direct", "method": "silent"}"# + "\n").utf8)
            let sockets = try (0..<3).map { _ in
                let socket = try LocalSocket(connectingTo: client.path, within: .seconds(60))
                try socket.write(line, until: .now + .seconds(60))
                return socket
            }
            try await eventually { try watch.counts().running == 3 }
            let further = await ask(client, "count", "1")
            let error = #expect(throws: BackplaneError.self) { try further.answer.get() }
            #expect(error?.code == .controlBusy)
            let called = await onThread {
                do throws(BackplaneError) {
                    return Result<String, BackplaneError>.success(
                        try client.ask(
                            CallRequest(manager: "Watch", method: "counts", input: nil, timeout: nil)
                        ).output)
                } catch {
                    return .failure(error)
                }
            }
            #expect(try called.get().contains(#""running":3"#))
            for socket in sockets { socket.hangUp() }
            try await eventually { try watch.counts().running == 0 }
        }
    }
}
