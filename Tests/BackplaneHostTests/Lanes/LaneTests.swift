import Backplane
import BackplaneDocuments
import BackplaneTestKit
import CBackplane
import Challenge
import Foundation
import ParityContracts
import TestFixtures
import Testing

@testable import BackplaneHost

/// Which lane a wire takes, decided from what both sides say of themselves.
struct LaneTests {
    private struct Numbers: Contract {
        static let version: Version = "1.2.0"
        let double = AsyncMethod<Int, Int>()
    }
    private static let revision = LaneOrigin.program.revision
    private static let contract = ContractDescription(of: Numbers.self)
    private static let layout = LayoutReader.layouts(of: Numbers.self)

    private func side(
        _ name: String, toolchain: String = "Swift 6.3.1 (a1b2c3)", revision: UInt32 = Self.revision,
        version: Version = "1.2.0", layout: String? = Self.layout
    ) -> LaneSide {
        var contract = Self.contract
        contract.version = version
        return LaneSide(
            LaneOrigin(name: name, toolchain: toolchain, revision: revision), contract, LayoutText { layout })
    }

    private func reason(_ consumer: LaneSide, _ provider: LaneSide, _ rule: LaneRule = .fastest) -> String? {
        guard case .encoded(let reason) = Lane(from: consumer, to: provider, rule) else { return nil }
        return reason
    }

    @Test func `The same compiler, revision, version and layout is the native lane`() {
        #expect(Lane(from: side("plugin `a`"), to: side("plugin `b`"), .fastest) == .native)
    }

    @Test func `Anything else is encoded, and says why`() {
        let sound = side("plugin `a`")
        #expect(reason(sound, sound, .encoded) == "the host is set to encode every call")
        #expect(reason(sound, side("plugin `b`", revision: 0)) == "plugin `b` does not use the Swift SDK")
        #expect(reason(side("plugin `c`", revision: 0), sound) == "plugin `c` does not use the Swift SDK")
        #expect(
            reason(sound, side("plugin `b`", revision: Self.revision + 1))
                == "plugin `b` uses revision \(Self.revision + 1) of the native lane, but this host uses \(Self.revision)"
        )
        #expect(
            reason(sound, side("plugin `b`", toolchain: "")) == "plugin `b` does not record which compiler built it")
        #expect(
            reason(sound, side("plugin `b`", toolchain: "Swift 6.3.1 (other)"))
                == "plugin `a` was built by Swift 6.3.1 (a1b2c3), plugin `b` by Swift 6.3.1 (other)")
        #expect(
            reason(sound, side("plugin `b`", version: "1.4.0"))
                == "`Numbers` is 1.2.0 in plugin `a` and 1.4.0 in plugin `b`")
        #expect(
            reason(sound, side("plugin `b`", layout: nil)) == "one side does not describe its layout of the contract")
    }

    @Test func `Another layout of what crosses is encoded`() {
        struct Wider: Contract {
            static let name = "Numbers"
            static let version: Version = "1.2.0"
            let double = AsyncMethod<Int32, Int>()
        }
        let reason = reason(side("plugin `a`"), side("plugin `b`", layout: LayoutReader.layouts(of: Wider.self)))
        #expect(reason?.contains("double") == true, "it names the member")
    }

    // MARK: State

    private struct Sum: Codable { var sum: Int }

    private func state(
        _ name: String, toolchain: String = "Swift 6.3.1 (a1b2c3)", revision: UInt32 = Self.revision,
        version: UInt32 = 1, layout: String? = LayoutReader.layout(ofState: Sum.self)
    ) -> StateSide {
        StateSide(
            LaneOrigin(name: name, toolchain: toolchain, revision: revision),
            StateDescription(schema: "sum", version: version, accepts: 0...version, writes: 0...version),
            LayoutText { layout })
    }

    private func reason(_ old: StateSide, _ new: StateSide, as version: UInt32 = 1, _ rule: LaneRule = .fastest)
        -> String?
    {
        guard case .encoded(let reason) = Lane(from: old, to: new, as: version, rule) else { return nil }
        return reason
    }

    @Test func `A state of the same compiler, revision, version and layout is handed over natively`() {
        #expect(Lane(from: state("plugin `a`"), to: state("plugin `a`"), as: 1, .fastest) == .native)
    }

    @Test func `Any other state is encoded, and says why`() {
        let sound = state("plugin `a`")
        #expect(reason(sound, sound, .encoded) == "the host is set to encode every call")
        #expect(reason(sound, state("plugin `b`", revision: 0)) == "plugin `b` does not use the Swift SDK")
        #expect(
            reason(state("plugin `b`", revision: Self.revision + 1), sound)
                == "plugin `b` uses revision \(Self.revision + 1) of the native lane, but this host uses \(Self.revision)"
        )
        #expect(
            reason(sound, state("plugin `b`", toolchain: "Swift 6.3.1 (other)"))
                == "plugin `a` was built by Swift 6.3.1 (a1b2c3), plugin `b` by Swift 6.3.1 (other)")
        #expect(
            reason(sound, state("plugin `a`", version: 2))
                == "the state has version 1 in the old code and 2 in the new code")
        let second = state("plugin `a`", version: 2)
        #expect(reason(second, second, as: 1) != nil, "what has to be migrated is not of that type")
        #expect(
            reason(sound, state("plugin `a`", layout: nil)) == "one side does not describe the layout of its state")
    }

    @Test func `A state of another layout is encoded, and says where they differ`() {
        struct Wider: Codable { var sum: Int32 }
        let sound = state("plugin `a`"), wider = state("plugin `a`", layout: LayoutReader.layout(ofState: Wider.self))
        #expect(
            reason(sound, wider)
                == "the state is `LaneTests.Sum` for the old code and `LaneTests.Wider` for the new code")
        func text(_ field: String) -> String { "state: #0=struct Notes.Sum 8/8/8/0{\(field):Int}" }
        #expect(
            reason(state("plugin `a`", layout: text("sum")), state("plugin `a`", layout: text("total")))
                == "the state is `Sum`, where `Sum.sum` exists only for the old code")
    }

    @Test(
        arguments: [
            "", "\n", "nonsense", "state: ", "state: Int\nstate: Int", "refused state: `Cover`, a class", Self.layout,
            String(repeating: "x\n", count: 10_000),
        ])
    func `A text that is not the layout of a state is no reason to hand one over`(text: String) {
        let odd = state("plugin `a`", layout: text)
        #expect(reason(odd, state("plugin `a`")) != nil && reason(state("plugin `a`"), odd) != nil)
        #expect(reason(odd, odd) != nil, "not even when both say it")
    }

    @Test(arguments: ["", "\n", "nonsense", String(repeating: "x\n", count: 10_000)])
    func `A layout that is not one is no reason to trust it`(text: String) {
        #expect(reason(side("plugin `a`"), side("plugin `b`", layout: text)) != nil)
        #expect(
            reason(side("plugin `a`", layout: text), side("plugin `b`", layout: text)) != nil,
            "not even when both say it")
    }
}

/// Whether one side of a wire can read what the other one sends, found without a call.
struct ContractFitTests {
    /// One contract with another value for each test.
    private struct Finding<Input: Codable & Sendable, Output: Codable & Sendable>: Contract {
        static var name: String { "Finding" }
        static var version: Version { "1.0.0" }
        let find = AsyncMethod<Input, Output>()
    }
    private struct LaterFinding<Input: Codable & Sendable, Output: Codable & Sendable>: Contract {
        static var name: String { "Finding" }
        static var version: Version { "1.1.0" }
        let find = AsyncMethod<Input, Output>()
    }
    private struct Following<Element: Codable & Sendable>: Contract {
        static var name: String { "Following" }
        static var version: Version { "1.0.0" }
        let follow = StreamMethod<Nothing, Element>()
    }

    private func side<C: Contract>(_ plugin: String, _ contract: C.Type, toolchain: String = "Swift 6.3.1") -> LaneSide
    {
        let origin = LaneOrigin(
            name: "plugin `\(plugin)`", toolchain: toolchain, revision: LaneOrigin.program.revision)
        return LaneSide(
            origin, ContractDescription(of: C.self), LayoutText { LayoutReader.layouts(of: C.self) }
        ) { ContractSamples.rehearse($0, as: C.self) }
    }

    /// The fit where only the output differs: sent by the provider, read by the user.
    private func reading<Sent: Codable & Sendable, Read: Codable & Sendable>(_: Sent.Type, as _: Read.Type)
        -> ContractFit
    {
        ContractFit(side("a", Finding<Int, Read>.self), side("b", Finding<Int, Sent>.self))
    }

    private func words(_ fit: ContractFit) -> String? {
        if case .unreadable(let words) = fit { words } else { nil }
    }

    private func isEncoded(_ fit: ContractFit) -> Bool {
        if case .encoded = fit { true } else { false }
    }

    @Test func `equal values have no difference`() {
        #expect(reading(Old.Total.self, as: Old.Total.self) == .equal)
    }

    @Test func `a number for a text is unreadable in the direction in which it is sent, with its place and both types`()
    {
        #expect(
            words(reading(New.Total.self, as: Old.Total.self))
                == "what `find` answers cannot be read: `/count` is `String` in plugin `b` and `Int` in plugin `a`")
        #expect(
            words(ContractFit(side("a", Finding<New.Total, Int>.self), side("b", Finding<Old.Total, Int>.self)))
                == "what `find` takes cannot be read: `/count` is `String` in plugin `a` and `Int` in plugin `b`")
        #expect(
            words(ContractFit(side("a", Following<Old.Total>.self), side("b", Following<New.Total>.self)))
                == "what `follow` answers cannot be read: `/count` is `String` in plugin `b` and `Int` in plugin `a`")
        #expect(
            words(reading(String.self, as: Int.self))
                == "what `find` answers cannot be read: it is `String` in plugin `b` and `Int` in plugin `a`")
    }

    @Test func `the place may be deep, in lists, dictionaries, optionals and cases`() {
        #expect(
            words(reading([String: [Wrapped<New.Total>]].self, as: [String: [Wrapped<Old.Total>]].self))
                == "what `find` answers cannot be read: `/1/0/value/count` is `String` in plugin `b` and `Int` in plugin `a`"
        )
        #expect(
            words(reading(New.Shape.self, as: Old.Shape.self))
                == "what `find` answers cannot be read: `/square/side` is `String` in plugin `b` and `Int` in plugin `a`"
        )
    }

    @Test func `a missing field is unreadable if it is required, and readable otherwise`() {
        #expect(
            words(reading(Old.Total.self, as: Longer.self))
                == "what `find` answers cannot be read: `/note` is `String` in plugin `a` and missing in plugin `b`")
        #expect(isEncoded(reading(Old.Total.self, as: OptionallyLonger.self)))
        #expect(isEncoded(reading(Old.Total.self, as: Defaulted.self)), "its own coding fills in what is missing")
        #expect(isEncoded(reading(Longer.self, as: Old.Total.self)), "what a reader does not know is ignored")
        #expect(isEncoded(reading(Longer.self, as: OtherOrder.self)))
    }

    @Test func `an unknown case is unreadable, and one less to read is not`() {
        #expect(
            words(reading(New.Genre.self, as: Old.Genre.self))
                == "what `find` answers cannot be read: it can be `thriller` in plugin `b`, which `Old.Genre` in plugin `a` does not have"
        )
        #expect(isEncoded(reading(Old.Genre.self, as: New.Genre.self)))
        #expect(
            words(reading([New.Circular].self, as: [Old.Circular].self))
                == "what `find` answers cannot be read: `/0` can be `oval` in plugin `b`, which `Old.Circular` in plugin `a` does not have"
        )
        #expect(isEncoded(reading(Renamed.self, as: Old.Genre.self)), "the raw values are equal")
    }

    @Test func `coding of a type's own decides, and what it refuses for another reason than its shape is no error`() {
        #expect(isEncoded(reading(New.Total.self, as: Lenient.self)), "reads a text as well as a number")
        #expect(isEncoded(reading(Spelled.self, as: New.Total.self)), "writes its number as a text")
        #expect(isEncoded(reading(Int.self, as: Wrapper.self)))
        #expect(isEncoded(reading(String.self, as: UUID.self)), "some texts are")
        #expect(isEncoded(reading(String.self, as: Picky.self)), "some texts are")
        #expect(isEncoded(reading(Double.self, as: Int.self)), "some numbers are")
        #expect(words(reading(Holder<New.Total>.self, as: Holder<Old.Total>.self)) == nil, "a layout shows no classes")
    }

    @Test func `values that contain themselves have samples, too`() {
        let words = words(reading(New.Tree.self, as: Old.Tree.self))
        #expect(
            words?.hasSuffix("/total/count` is `String` in plugin `b` and `Int` in plugin `a`") == true,
            "\(words ?? "")")
    }

    @Test func `another compiler or version is compared, and another compiler is said`() {
        let user = side("a", Finding<Int, Old.Total>.self)
        #expect(
            ContractFit(user, side("b", Finding<Int, Old.Total>.self, toolchain: "Swift 6.4"))
                == .encoded(because: "plugin `a` was built by Swift 6.3.1, plugin `b` was built by Swift 6.4"))
        #expect(ContractFit(user, side("b", LaterFinding<Int, Longer>.self)) == .unknown)
        #expect(words(ContractFit(user, side("b", LaterFinding<Int, New.Total>.self))) != nil)
    }

    @Test func `a side that does not describe its values is unknown`() {
        let user = side("a", Finding<Int, Int>.self)
        var inC = user.origin
        (inC.toolchain, inC.revision) = ("", 0)
        let other = side("b", Finding<Int, String>.self)
        #expect(ContractFit(user, LaneSide(inC, user.contract, LayoutText { nil })) == .unknown)
        #expect(
            isEncoded(ContractFit(user, LaneSide(other.origin, other.contract, other.layout))),
            "nothing to rehearse with")
    }
}

private struct Wrapped<Value: Codable & Sendable>: Codable, Sendable { var value: Value? }
private struct Longer: Codable, Sendable { var count: Int, note: String }
private struct OtherOrder: Codable, Sendable { var note: String, count: Int }
private struct OptionallyLonger: Codable, Sendable { var count: Int, note: String? }
private struct Wrapper: RawRepresentable, Codable, Sendable { var rawValue: Int }
private final class Holder<Value: Codable & Sendable>: Codable, Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
private enum Renamed: String, Codable, Sendable { case drama, fun = "comedy" }

private enum Old {
    struct Total: Codable, Sendable { var count: Int }
    enum Genre: String, Codable, Sendable { case drama, comedy }
    enum Circular: Codable, Sendable { case circle(radius: Int) }
    enum Shape: Codable, Sendable { case circle(Int), square(side: Int, filled: Bool) }
    struct Tree: Codable, Sendable { var branches: [Tree], total: Total }
}
private enum New {
    struct Total: Codable, Sendable { var count: String }
    enum Genre: String, Codable, Sendable { case drama, comedy, thriller }
    enum Circular: Codable, Sendable { case circle(radius: Int), oval(Int, Int) }
    enum Shape: Codable, Sendable { case circle(Int), square(side: String, filled: Bool) }
    struct Tree: Codable, Sendable { var branches: [Tree], total: Total }
}

private struct Defaulted: Codable, Sendable {
    var count: Int, note: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        count = try container.decode(Int.self, forKey: .count)
        note = try container.decodeIfPresent(String.self, forKey: .note) ?? "none"
    }
}

private struct Lenient: Codable, Sendable {
    var count: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = try? container.decode(String.self, forKey: .count)
        count = try text.map { Int($0) ?? 0 } ?? container.decode(Int.self, forKey: .count)
    }
}

private struct Spelled: Codable, Sendable {
    var count: Int

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(count)", forKey: .count)
    }
}

private struct Picky: Codable, Sendable {
    var text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard text.hasPrefix("ISBN") else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected ISBN")
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A provider serves users that were compiled with an earlier version of its contract, and nobody else.
@Suite(.timeLimit(.minutes(10)))
struct ContractVersionTests {
    private static let provider = #""Ledger": {"className": "LedgerManager"}"#
    private static let plugin = "plugin `org.backplane.tests.parity`"

    private static func reader(_ className: String) -> String {
        #"\#(provider), "Reader": {"className": "\#(className)", "uses": {"ledger": "Ledger"}}"#
    }

    @Test func `a provider of 1_4 serves a host program that knows 1_2`() async throws {
        try await TestHost.with(parity: Self.provider) { test in
            let ledger: Remote<EarlierLedger> = try await test.host.manager("Ledger")
            let found = try await ledger.find(.init(text: "a"))
            #expect(
                found == [.init(text: "a", wasLimited: false)],
                "what it does not know of the output is left out, what it does not give is nil")
            #expect(try ledger.count(.init(text: "abc")) == 3)
            #expect(
                await error { try await ledger.given("a") }
                    == BackplaneError(.callUnimplemented, "the called component has no method `given`"))
            let lanes = await test.host.wires.map(\.lane)
            #expect(lanes == [.encoded(because: "`Ledger` is 1.2.0 in the host program and 1.4.0 in \(Self.plugin)")])
        }
    }

    @Test func `and a plugin that knows 1_2`() async throws {
        try await TestHost.with(parity: Self.reader("LedgerReader")) { test in
            let problems = await test.host.check()
            #expect(problems.map(\.severity) == [.warning])
            #expect(problems.first?.error.code == .callUnimplemented)
            #expect(
                problems.first?.error.message.contains("`given`") == true,
                "what is missing is told before anything starts")
            let reader: Remote<LedgerReading> = try await test.host.manager("Reader")
            #expect(try await reader.find("a") == ["a"])
            #expect(try reader.count("abc") == 3)
            #expect(await error { try await reader.given("a") }?.code == .callUnimplemented)
        }
    }

    @Test func `the same version with another layout is encoded, says why, and works`() async throws {
        let difference = "`find` takes `OtherLedger.Query` for the user and `LedgerQuery` for the provider"
        try await TestHost.with(parity: Self.reader("EqualVersionReader")) { test in
            let problems = await test.host.check()
            #expect(problems.map { "\($0.severity) \($0.error.code)" } == ["warning wire.encoded"])
            let reader: Remote<LedgerReading> = try await test.host.manager("Reader")
            #expect(try await reader.find("a") == ["a true"])
            #expect(try reader.count("abc") == 3)
            let ledger: Remote<OtherLedger> = try await test.host.manager("Ledger")
            #expect(
                try await ledger.find(.init(text: "b", limit: nil, note: "")) == [
                    LedgerEntry(text: "b", wasLimited: false, pages: [1, 2])
                ])
            let lanes = Dictionary(
                await test.host.wires.map { ("\($0.user ?? "-") \($0.provider)", $0.lane) },
                uniquingKeysWith: { first, _ in first })
            #expect(
                lanes == [
                    "- Reader": .native, "Reader Ledger": .encoded(because: difference),
                    "- Ledger": .encoded(because: difference),
                ])
        }
    }

    @Test func `a look-up of a provider that does not fit is refused`() async throws {
        try await TestHost.with(parity: Self.provider) { test in
            let later = await error { try await test.host.manager("Ledger", as: LaterLedger.self) }
            let other = await error { try await test.host.manager("Ledger", as: OtherMajorLedger.self) }
            let kind = await error { try await test.host.manager("Ledger", as: OtherKindLedger.self) }
            #expect([later, other, kind].map { $0?.code } == [.wireMismatch, .wireMismatch, .wireMismatch])
            let start = "was requested of Ledger, but `LedgerManager` 1.0.0 of \(Self.plugin) provides `Ledger`"
            #expect(later?.message == "`Ledger` 1.4.1 \(start) 1.4.0, an earlier version")
            #expect(other?.message == "`Ledger` 2.0.0 \(start) 1.4.0, another major version")
            #expect(kind?.message == "`Ledger` 1.4.0 \(start) 1.4.0 with `total` asynchronous, not synchronous")
        }
    }
}

/// A Swift plugin with another revision of the SDK's lane gets no slots of the host's; it makes its own and calls as a
/// plugin in C does.
@Suite(.timeLimit(.minutes(10)))
struct OtherRevisionTests {
    private static let entry:
        @Sendable @convention(c) (UnsafePointer<bp_offer>, UnsafeMutablePointer<bp_answer>) -> Int32 = {
            offer, answer in
            let status = ChallengePlugin.enter(offer, answer)
            answer.pointee.lane_revision = BP_LANE_REVISION + 1
            return status
        }

    private func with(_ body: (PluginHost, Remote<Trials>, Remote<Relay>) async throws -> Void) async throws {
        let folder = try TestFolder()
        let manifest = ManifestDocument([
            "manifestVersion": 1, "plugins": [],
            "managers": [
                "Trial": ["className": "TrialManager"],
                "Relay": ["className": "RelayManager", "uses": ["trials": "Trial"]],
            ],
        ])
        let host = PluginHost(
            manifest: manifest, linked: [LinkedPlugin(named: "challenge", entry: Self.entry)],
            options: HostOptions(loadFolder: folder.path + "/loads", dataFolder: folder.path + "/data"))
        try await body(host, host.manager("Trial"), host.manager("Relay"))
        await host.stop()
    }

    @Test func `It is called, and calls others, through the host`() async throws {
        try await with { host, trials, relay in
            #expect(try trials.path() == [])
            let path = try await relay.path()
            #expect(path.count == 1)
            #expect(await error { try await relay.fail("no") }?.failure?.code == "trial.trouble")
            let left = try await relay.timeLeft(host.begin(within: .seconds(1_000)))
            #expect(left.map { $0 > 0 && $0 <= 1_000 } == true)
        }
    }
}
