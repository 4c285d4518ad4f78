import Backplane
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
