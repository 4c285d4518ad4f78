import Backplane
import BackplaneBoundary
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
    private static let layout = ContractLayout(of: Numbers.self).text

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
        guard case .encoded(let reason) = LaneChoice(from: consumer, to: provider, rule) else { return nil }
        return reason
    }

    @Test func `The same compiler, revision, version and layout is the native lane`() {
        #expect(LaneChoice(from: side("plugin `a`"), to: side("plugin `b`"), .fastest) == .native)
    }

    @Test func `Anything else is encoded, and says why`() {
        let sound = side("plugin `a`")
        #expect(reason(sound, sound, .encoded) == "the host is set to encode every call")
        #expect(reason(sound, side("plugin `b`", revision: 0)) == "plugin `b` does not use the Swift SDK")
        #expect(reason(side("plugin `c`", revision: 0), sound) == "plugin `c` does not use the Swift SDK")
        #expect(
            reason(sound, side("plugin `b`", revision: 7))
                == "plugin `b` uses revision 7 of the native lane, but this host uses \(Self.revision)")
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
        let reason = reason(side("plugin `a`"), side("plugin `b`", layout: ContractLayout(of: Wider.self).text))
        #expect(reason?.contains("double") == true, "it names the member")
    }

    @Test(arguments: ["", "\n", "nonsense", String(repeating: "x\n", count: 10_000)])
    func `A layout that is not one is no reason to trust it`(text: String) {
        #expect(reason(side("plugin `a`"), side("plugin `b`", layout: text)) != nil)
        #expect(
            reason(side("plugin `a`", layout: text), side("plugin `b`", layout: text)) != nil,
            "not even when both say it")
    }
}
