import Backplane
import BackplaneTestKit
import CBackplane
import Foundation
import ParityContracts
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// Every kind of value arrives whole and comes back equal, in either lane, from the host and from plugin to plugin.
@Suite(.timeLimit(.minutes(10)))
struct ValueParityTests {
    @Test(arguments: Route.allCases)
    func `every kind of value crosses whole`(route: Route) async throws {
        try await route.with("Values", as: Values.self) { _, values in
            let full = FullState.sample, text = Seen(full).text
            for seen in [try await values.full(full), try values.fullNow(full)] {
                #expect(seen.value == full)
                #expect(seen.text == text, "as it was seen there")
                #expect(seen.value.doubles[0].sign == .minus && seen.value.floats[0].sign == .minus)
                #expect(seen.value.words.contains("é") && !seen.value.words.contains("e"))
                for (id, number) in full.byUUID { #expect(seen.value.byUUID[id] == number) }
            }
            try await expect([Nothing()], through: values.nothing)
            try await expect([nil], through: values.perhapsNothing)
            try await expect([nil, 0, .max], through: values.optional)
            try await expect([nil, 7], through: values.nested)
            try await expectAmended(values)
        }
    }

    /// Sends values there, and expects them there and back as they are.
    private func expect<Value: Equatable>(
        _ values: [Value], through echo: BoundAsync<Value, Seen<Value>, Never, OptionalFrame>,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for value in values {
            let seen = try await echo(value)
            #expect(seen.value == value, sourceLocation: location)
            #expect(seen.text == Seen(value).text, "as it was seen there", sourceLocation: location)
        }
    }

    /// What is changed there is not changed here.
    private func expectAmended(_ values: Remote<Values>) async throws {
        let volumes = [
            Volume(1, "Emma", tags: ["novel"]), Volume(2, "Ulysses, which is a title of more than fifteen bytes"),
        ]
        for answer in [try await values.amended(volumes), try values.amendedNow(volumes)] {
            #expect(
                answer.map(\.title) == [
                    "Emma, amended", "Ulysses, which is a title of more than fifteen bytes, amended", "one more",
                ])
            #expect(answer.map(\.tags) == [["novel", "amended"], ["amended"], ["new"]])
            #expect(answer.map(\.isLent) == [true, true, false])
            #expect(answer[2].shape == .labelled("amended", [.point]))
        }
        #expect(
            volumes == [
                Volume(1, "Emma", tags: ["novel"]), Volume(2, "Ulysses, which is a title of more than fifteen bytes"),
            ])
    }
}

/// What is thrown arrives as the same error, in either lane, from the host and from plugin to plugin.
@Suite(.timeLimit(.minutes(10)))
struct ErrorParityTests {
    @Test(arguments: Route.allCases)
    func `every error arrives with all it has`(route: Route) async throws {
        try await route.with("Failures", as: Failures.self) { _, failures in
            for kind in FailureKind.allCases {
                #expect(await error { try await failures.fail(kind) } == kind.error)
                #expect(throws: kind.error) { try failures.failNow(kind) }
            }
            #expect(await error { try await failures.failDeep(100) } == .deep(100))
        }
    }

    @Test(arguments: Route.allCases)
    func `errors that came out of a plugin outlive its host`(route: Route) async throws {
        var kept: [FailureKind: BackplaneError] = [:]
        try await route.with("Failures", as: Failures.self) { _, failures in
            for kind in FailureKind.allCases { kept[kind] = await error { try await failures.fail(kind) } }
        }
        for kind in FailureKind.allCases {
            #expect(kept[kind] == kind.error)
            #expect(kept[kind]?.detailedDescription.hasSuffix(kind.error.detailedDescription) == true)
        }
    }

    @Test(arguments: Route.allCases)
    func `an error that the contract declares is caught with its type`(route: Route) async throws {
        try await route.with("Loans", as: Loans.self) { _, loans in
            for wanted in [LoanError.lent(book: "Moby-Dick", to: "Ann \u{1F40B}"), .lent(book: "", to: nil), .closed] {
                let asynchronous = await #expect(throws: LoanError.self) { try await loans.borrow(wanted) }
                let synchronous = #expect(throws: LoanError.self) { try loans.borrowNow(wanted) }
                var titles: [String] = []
                let streamed = await #expect(throws: LoanError.self) {
                    for try await title in loans.titles(wanted) { titles.append(title) }
                }
                #expect([asynchronous, synchronous, streamed] == [wanted, wanted, wanted])
                #expect(titles == ["Moby-Dick"])
            }
        }
    }

    @Test(arguments: Route.allCases)
    func `every other error of such a contract arrives as it does elsewhere`(route: Route) async throws {
        try await route.with("Loans", as: Loans.self) { _, loans in
            for kind in FailureKind.allCases {
                let arrived = await error { try await loans.fail(kind) }
                #expect(arrived == kind.error)
            }
            let late = await error { try await loans.borrow(.closed, Call(within: .seconds(-1))) }
            #expect(late?.code == .callDeadline)
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `an error that the user's version of its type does not know arrives with its code`(lanes: LaneRule)
        async throws
    {
        let refused = BackplaneError.Failure(code: "loans.refused")
        try await TestHost.with(parity: #""Loans": {"className": "LoansManager"}"#, lanes: lanes) { test in
            let earlier: Remote<EarlierLoans> = try await test.host.manager("Loans")
            let untyped: Remote<UntypedLoans> = try await test.host.manager("Loans")
            await #expect(throws: EarlierLoans.Failure.closed) { try await earlier.borrow(.closed) }
            let unknown = await error { try await earlier.borrow(.lent(book: "Emma", to: nil)) }
            #expect(unknown?.code == .componentFailed && unknown?.message == "the loan is refused")
            #expect(unknown?.failure?.code == refused.code && unknown?.calls.first?.hasPrefix("Loans.borrow") == true)
            let renamed = await error { try await earlier.borrow(.renamed) }
            #expect(renamed?.failure?.code == "loans.renamed", "which is another error to this user")
            let streamed = await error { for try await _ in earlier.titles(.lent(book: "Emma", to: nil)) {} }
            #expect(streamed?.failure?.code == refused.code)
            do throws(BackplaneError) {
                _ = try await untyped.borrow(.lent(book: "Emma", to: "Ann"))
            } catch {
                #expect(error.failure(as: LoanError.self) == .lent(book: "Emma", to: "Ann"))
            }
        }
    }
}

/// The call frame goes through every component, in either lane and where the lane changes.
@Suite(.timeLimit(.minutes(10)))
struct FrameParityTests {
    private static let trace = (1...32).map { UInt8($0) }

    /// A call with everything in its frame.
    private func call() -> Call {
        var frame = bp_call()
        frame.size = UInt32(MemoryLayout<bp_call>.size)
        withUnsafeMutableBytes(of: &frame.trace) { $0.copyBytes(from: Self.trace) }
        return Call(copying: &frame).within(.seconds(10_000))
    }

    /// Expects the frame of a call that came through two components before this one.
    private func expectFrame(at frames: Remote<Frames>) async throws {
        let call = call()
        for frame in [try await frames.frame(call), try frames.frameNow(call)] {
            #expect(frame.deadline == call.deadline?.nanoseconds)
            #expect(frame.trace == Self.trace)
            #expect(
                frame.path == [3, 2], "the components' numbers, in the order of the call; the provider was made first")
        }
        #expect(try await frames.frame() == Frame(path: [3, 2]), "a call without anything arrives without anything")
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `deadline, trace and path go through three components`(lanes: LaneRule) async throws {
        let managers = """
            "Last": {"className": "FramesManager"}, "Middle": {"className": "FramesRelay", "uses": {"next": "Last"}},
            "First": {"className": "FramesRelay", "uses": {"next": "Middle"}}
            """
        try await TestHost.with(parity: managers, lanes: lanes) { test in
            try await expectFrame(at: test.host.manager("First"))
            let crossed = await test.host.wires.map(\.lane)
            #expect(crossed.count == 3)
            #expect(crossed.allSatisfy { ($0 == .native) == (lanes == .fastest) })
        }
    }

    @Test func `and where one wire is native, the next encoded and the last goes to a plugin in C`() async throws {
        let managers = """
            "Last": {"className": "FramesInC"}, "Middle": {"className": "FramesRelay", "uses": {"next": "Last"}},
            "First": {"className": "FramesRelay", "uses": {"earlier": "Middle"}}
            """
        try await TestHost.with(
            parity: managers, libraries: ["FixturesInC"], pluginPaths: [BuiltProducts.folder]
        ) { test in
            try await expectFrame(at: test.host.manager("First"))
            let lanes = Dictionary(
                await test.host.wires.map { ($0.provider, $0.lane) }, uniquingKeysWith: { first, _ in first })
            #expect(lanes["First"] == .native)
            #expect(
                lanes["Middle"]
                    == .encoded(
                        because:
                            "`Frames` is 1.0.0 in plugin `org.backplane.tests.parity-relay` and 1.1.0 in plugin `org.backplane.tests.parity-relay`"
                    ))
            #expect(
                lanes["Last"]
                    == .encoded(because: "plugin `org.backplane.tests.fixtures-in-c` does not use the Swift SDK"))
        }
    }

    @Test(arguments: Route.allCases)
    func `the called code has its caller's priority`(route: Route) async throws {
        try await route.with("TaskContext", as: TaskContext.self) { _, taskContext in
            for priority in [TaskPriority.high, .medium, .low, .background] {
                // Whoever waited for the task itself would raise its priority.
                let (seen, sink) = AsyncStream.makeStream(of: UInt8?.self)
                Task.detached(priority: priority) {
                    sink.yield(Task.currentPriority.rawValue)
                    sink.yield(try? await taskContext.priority())
                    sink.finish()
                }
                let priorities = await seen.reduce(into: []) { $0.append($1) }
                #expect(priorities == [priority.rawValue, priority.rawValue])
            }
        }
    }
}

extension Frame {
    fileprivate init(path: [UInt16]) {
        self.init(Call())
        self.path = path
    }
}

/// How calls get to a provider of the parity plugins: in which lane, and from the host program or from another library.
struct Route: CaseIterable, Sendable, CustomTestStringConvertible {
    var lanes: LaneRule
    var isRelayed: Bool

    static let allCases = [
        Route(lanes: .fastest, isRelayed: false), Route(lanes: .encoded, isRelayed: false),
        Route(lanes: .fastest, isRelayed: true), Route(lanes: .encoded, isRelayed: true),
    ]

    var testDescription: String {
        "\(lanes == .encoded ? "encoded" : "native"), \(isRelayed ? "from plugin to plugin" : "from the host")"
    }

    /// Runs a host of a provider and its relay for as long as `body` does, and sees to it that every call takes the
    /// lane.
    ///
    /// - Parameters:
    ///   - name: of the classes, without `Manager` and `Relay`.
    ///   - others: further managers.
    func with<C: Contract>(
        _ name: String, as _: C.Type, others: String = "", _ body: (TestHost, Remote<C>) async throws -> Void
    ) async throws {
        let managers =
            #""Direct": {"className": "\#(name)Manager"}, "Relayed": {"className": "\#(name)Relay", "uses": {"next": "Direct"}}"#
            + others
        try await TestHost.with(parity: managers, lanes: lanes) { test in
            let remote: Remote<C> = try await test.host.manager(isRelayed ? "Relayed" : "Direct")
            let crossed = Set(await test.host.wires.map(\.lane))
            #expect(
                crossed == [lanes == .encoded ? .encoded(because: "the host is set to encode every call") : .native])
            try await body(test, remote)
        }
    }
}

extension TestHost {
    /// Runs a host of the parity plugins, and stops it however `body` ends.
    static func with(
        parity managers: String, libraries: [String] = [], pluginPaths: [String] = [],
        in folder: TestFolder? = nil, lanes: LaneRule = .fastest,
        _ body: (TestHost) async throws -> Void
    ) async throws {
        let plugins = (["_Parity", "_ParityRelay"] + libraries).map { #"{"library": "\#($0)"}"# }.joined(
            separator: ", ")
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [\#(plugins)], "managers": {\#(managers)}}"#, pluginPaths: pluginPaths,
            in: folder, lanes: lanes, stopLimit: .seconds(60))
        do {
            try await body(test)
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }
}

/// Components that call one another very deep.
@Suite(.timeLimit(.minutes(10)))
struct DeepCallTests {
    @Test(arguments: [LaneRule.fastest, .encoded])
    func `Ten thousand calls inside one another all end`(lanes: LaneRule) async throws {
        // The wire of the manager to itself, which no manifest gives it.
        let own = Mutex<Remote<Scripted>?>(nil)
        let script = Script(act: { _, depth, call in
            guard let depth = Int(depth), depth > 0, let next = own.withLock({ $0 }) else { return "0" }
            return "\((Int(try await next.act("\(depth - 1)", call)) ?? 0) + 1)"
        })
        let test = try ScriptedPlugin.host(["Recursion": .init(script: script)], lanes: lanes)
        let remote: Remote<Scripted> = try await test.host.manager("Recursion")
        own.withLock { $0 = remote }
        #expect(try await remote.act("10000") == "10000")
        await test.host.stop()
    }
}
