import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import Testing

@testable import BackplaneHost

/// Exchanges whose interceptor's plugin is swapped meanwhile.
@Suite(.timeLimit(.minutes(5)))
struct InterceptorSwapTests {
    private static func script(_ edition: String, _ gate: TestGate) -> ScriptedInterceptor.Script {
        ScriptedInterceptor.Script { head, _ in
            try await gate.pass()
            var head = head
            head.fields["X-Edition"] = edition
            return head
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `none of a hundred requests fails while the plugin of their interceptor is swapped`(lanes: LaneRule)
        async throws
    {
        let server = try TestServer { request, connection in
            connection.answer("200 OK", body: Array((request["X-Edition"] ?? "none").utf8))
        }
        let gate = TestGate(), half = 50
        try await ExtendedHost.with([Self.script("1", gate)], lanes: lanes) { extended in
            let request = HTTPRequest("GET", server.url()), coordinator = extended.host.coordinator
            ScriptedInterceptor.scripts.withLock { $0[extended.keys[0]] = Self.script("2", TestGate(isOpen: true)) }
            let later = LinkedPlugin(id: ExtendingPlugin.id, version: "2.0.0") { ExtendingPlugin.register(in: &$0) }
            let editions = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<half { group.addTask { try await extended.text(request) } }
                try await gate.arrivals(half)
                let swap = Task {
                    try await withTaskExecutorPreference(coordinator.executor) { () async throws(BackplaneError) in
                        try await coordinator.swap(
                            linked: [later], ChangeOptions(drain: .upTo(.seconds(60), then: .fail)))
                    }
                }
                for _ in 0..<half { group.addTask { try await extended.text(request) } }
                gate.open()
                let outcome = try await swap.value.outcome
                #expect(outcome == .changed)
                return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(editions.values.reduce(0, +) == 2 * half && Set(editions.keys).isSubset(of: ["1", "2"]))
            #expect(editions["1", default: 0] >= half, "those that had begun end on the code that they began on")
            let after = try await extended.text(request)
            #expect(after == "2")
        }
    }
}
