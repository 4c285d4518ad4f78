import Backplane
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// The trace of a call on its way through components, and in what they log.
@Suite(.timeLimit(.minutes(5)))
struct CallTraceTests {
    private struct Echoing: Contract {
        static let name = "Echo"
        static let version: Version = "1.0.0"
        /// The trace that arrives, after it was logged.
        let trace = AsyncMethod<Nothing, String>()
        /// The trace of a call that the component begins.
        let own = AsyncMethod<String?, String>()
    }

    private final class EchoManager: Manager {
        typealias Provides = Echoing
        static let className = "EchoManager"
        struct Wires: Wiring {
            let next: Wire<Echoing>?
        }
        private let context: Context

        init(_ context: Context) { self.context = context }

        static func methods(_ table: inout Methods) {
            table.async(\.trace) { echo, _, call in
                echo.context.log.notice("asked", metadata: ["trace": "its own"], for: call)
                echo.context.log.notice("untraced")
                return try await echo.context.wires.next?.trace(call) ?? call.trace?.traceparent ?? "none"
            }
            table.async(\.own) { echo, parent, _ in
                echo.context.begin(traceparent: parent).trace?.traceparent ?? "none"
            }
        }
    }

    private func with(_ lanes: LaneRule, _ body: (TestHost, Remote<Echoing>) async throws -> Void) async throws {
        let test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {
                "Last": {"className": "EchoManager"}, "First": {"className": "EchoManager", "uses": {"next": "Last"}}
            }}
            """,
            linked: [LinkedPlugin(id: "org.backplane.tests.echo", version: "1.0.0") { $0.add(EchoManager.self) }],
            lanes: lanes)
        do {
            try await body(test, try await test.host.manager("First"))
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `it is the same everywhere, and in what is logged for the call`(lanes: LaneRule) async throws {
        try await with(lanes) { test, echo in
            let call = test.host.begin(), id = try #require(call.trace?.id)
            let arrived = try await echo.trace(call)
            #expect(arrived == call.trace?.traceparent)
            let asked = test.log.records.filter { $0.message == "asked" }
            #expect(asked.map(\.source) == ["First", "Last"])
            #expect(asked.allSatisfy { $0.metadata == ["trace": id] })
            #expect(test.log.records.filter { $0.message == "untraced" }.allSatisfy { $0.metadata.isEmpty })
        }
    }

    @Test func `one that another program has begun is continued, by the host and by components`() async throws {
        try await with(.fastest) { test, echo in
            let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let continued = try await echo.trace(test.host.begin(traceparent: parent))
            #expect(continued == parent)
            let own = try await echo.own(parent)
            #expect(own == parent)
            let new = try await echo.own(nil)
            #expect(Trace(traceparent: new) != nil && new != parent)
            let malformed = try await echo.own("rubbish")
            #expect(Trace(traceparent: malformed) != nil)
            let none = try await echo.trace()
            #expect(none == "none")
        }
    }
}
