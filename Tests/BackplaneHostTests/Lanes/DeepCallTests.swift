import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Components that call one another very deep.
@Suite(.timeLimit(.minutes(10)))
struct DeepCallTests {
    private static let manifest =
        #"{"manifestVersion": 1, "plugins": [], "managers": {"Recursion": {"className": "RecursiveManager"}}}"#

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `Ten thousand calls inside one another all end`(lanes: LaneRule) async throws {
        let test = try TestHost(Self.manifest, plugins: [RecursionPlugin.self], lanes: lanes)
        let remote: Remote<Recursion> = try await test.host.manager("Recursion")
        #expect(try await remote.down(RecursionInput(Self.remember(remote), 10_000)) == 10_000)
        await test.host.stop()
    }

    /// Where a component finds the wire to itself, which no manifest gives it.
    fileprivate static let remotes = Mutex<[Remote<Recursion>]>([])

    private static func remember(_ remote: Remote<Recursion>) -> Int {
        remotes.withLock { remotes in
            remotes.append(remote)
            return remotes.count - 1
        }
    }
}

struct RecursionInput: Codable, Sendable {
    var key, depth: Int
    init(_ key: Int, _ depth: Int) { (self.key, self.depth) = (key, depth) }
}

struct Recursion: Contract {
    static let version: Version = "1.0.0"
    /// Calls itself so many times, one call in the other, and gives how many there were.
    let down = AsyncMethod<RecursionInput, Int>()
}

private final class RecursiveManager: Manager {
    typealias Provides = Recursion
    static var className: String { "RecursiveManager" }

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.down) { _, input, call in
            guard input.depth > 0 else { return 0 }
            let next = DeepCallTests.remotes.withLock { $0[input.key] }
            return try await next.down(RecursionInput(input.key, input.depth - 1), call) + 1
        }
    }
}

private struct RecursionPlugin: Plugin {
    static let id = "org.backplane.tests.recursion"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(RecursiveManager.self) }
}
