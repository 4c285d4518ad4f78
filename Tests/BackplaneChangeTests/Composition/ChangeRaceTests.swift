import Backplane
import BackplaneDocuments
import BackplaneTestKit
import Challenge
import TestFixtures
import Testing

@testable import BackplaneHost

/// Starts, changes, calls and stops that meet.
@Suite(.timeLimit(.minutes(5)))
struct ChangeRaceTests {
    /// What came up and has not stopped, by the host's own lines.
    private func left(of test: TestHost) -> [String: Int] {
        var left: [String: Int] = [:]
        for record in test.log.records where record.source == "host" {
            guard let component = record.metadata["component"] else { continue }
            if record.message == "started" { left[component, default: 0] += 1 }
            if record.message == "stopped" { left[component, default: 0] -= 1 }
        }
        return left.filter { $0.value != 0 }
    }

    @Test func `a start and a smaller manifest at once lead to exactly the managers of that manifest`()
        async throws
    {
        for round in 0..<40 {
            var peers: [String: PeerHost.Peer] = [:]
            for index in 0..<30 {
                peers["C\(index)"] = .init(number: index, left: index % 3 > 0 ? "C\(index - 1)" : nil)
            }
            let peerHost = try PeerHost(peers)
            if round % 2 == 0 { _ = try await peerHost.peer("C29") }
            let fewer: [String: PeerHost.Peer] = [
                "C1": .init(number: 100), "C29": .init(number: 200, isLazy: true), "D": .init(left: "C1"),
            ]
            async let start = outcome { () async throws(BackplaneError) in try await peerHost.host.start() }
            async let change = outcome { () async throws(BackplaneError) in
                try await peerHost.host.apply(peerHost.document(fewer))
            }
            _ = await start
            _ = try await change.get()
            // It is lazy now: up if it was before.
            let last = await peerHost.states()[1] == "C29 ready"
            #expect(round % 2 == 1 || last)
            #expect(
                await peerHost.states() == ["C1 ready", last ? "C29 ready" : "C29 resolved", "D ready"],
                "round \(round)"
            )
            #expect(left(of: peerHost.test).keys.sorted() == (last ? ["C1", "C29", "D"] : ["C1", "D"]))
            await peerHost.host.stop()
            #expect(left(of: peerHost.test) == [:])
        }
    }

    @Test func `everything at once ends, and leaves nothing behind`() async throws {
        for round in 0..<20 {
            var peers: [String: PeerHost.Peer] = ["A": .init(number: 1), "B": .init(left: "A")]
            for index in 0..<10 { peers["L\(index)"] = .init(left: "B", meets: ["A"], isLazy: index % 2 == 0) }
            let peerHost = try PeerHost(peers), all = peers
            await withTaskGroup { group in
                group.addTask { try? await peerHost.host.start() }
                for number in 0..<5 {
                    group.addTask { _ = try? await peerHost.host.reset("A") }
                    group.addTask { _ = try? await peerHost.host.reset() }
                    group.addTask {
                        var changed = all
                        changed["A"]?.number = number
                        changed["L\(number)"] = nil
                        _ = try? await peerHost.host.apply(peerHost.document(changed))
                    }
                    group.addTask { _ = try? await peerHost.peer("L\(number)").met() }
                    group.addTask { _ = try? await peerHost.peer("B").ask("L\(number)") }
                    group.addTask { _ = try? await peerHost.test.call("B", "friends") }
                }
                if round % 2 == 0 {
                    group.addTask {
                        for _ in 0..<(round * 20) { await Task.yield() }
                        await peerHost.host.stop()
                    }
                }
            }
            await peerHost.host.stop()
            #expect(left(of: peerHost.test) == [:], "round \(round)")
            #expect(peerHost.test.log.records.allSatisfy { $0.level < .error })
        }
    }
}

private func outcome<Success>(_ body: () async throws(BackplaneError) -> Success) async -> Result<
    Success, BackplaneError
> {
    do throws(BackplaneError) {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
