import Backplane
import BackplaneTestKit
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Components that call one another very deep, and components that are stopped under their callers.
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

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `A component that is stopped under full load is released after its last call`(lanes: LaneRule) async throws {
        for _ in 0..<10 {
            let test = try TestHost(Self.manifest, plugins: [RecursionPlugin.self], lanes: lanes)
            let remote: Remote<Recursion> = try await test.host.manager("Recursion"), key = Self.remember(remote)
            let counts = Counts()
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask { @concurrent in
                        var code: BackplaneError.Code?
                        while code == nil {
                            do throws(BackplaneError) {
                                let isRight =
                                    switch number % 3 {
                                    case 0: try remote.isThere()
                                    case 1: try await remote.down(RecursionInput(key, 0)) == 0
                                    default: try await remote.down(RecursionInput(key, 5)) == 5
                                    }
                                if !isRight { counts.wrong.wrappingAdd(1, ordering: .relaxed) }
                            } catch {
                                code = error.code
                            }
                            if counts.calls.wrappingAdd(1, ordering: .relaxed).newValue % 64 == 0 { await Task.yield() }
                        }
                        #expect(code == .callRetired)
                    }
                }
                await eventually { counts.calls.load(ordering: .relaxed) > 200 }
                await test.host.stop()
            }
            #expect(counts.wrong.load(ordering: .relaxed) == 0, "none reached a component that was given up")
        }
    }

    private final class Counts: Sendable {
        let calls = Atomic(0), wrong = Atomic(0)
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
    let isThere = SyncMethod<Nothing, Bool>()
}

private final class RecursiveManager: Manager {
    typealias Provides = Recursion
    static var className: String { "RecursiveManager" }
    private let isGone = Gone()

    /// Outlives its component, so that a call that comes too late sees it.
    private final class Gone: Sendable {
        static let all = Mutex<[Gone]>([])
        let value = Atomic(false)
        init() { Self.all.withLock { $0.append(self) } }
    }

    init(_ context: Context) {}
    deinit { isGone.value.store(true, ordering: .relaxed) }

    static func methods(_ table: inout Methods) {
        table.sync(\.isThere) { manager, _, _ in !manager.isGone.value.load(ordering: .relaxed) }
        table.async(\.down) { manager, input, call in
            guard input.depth > 0 else { return manager.isGone.value.load(ordering: .relaxed) ? -1 : 0 }
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
