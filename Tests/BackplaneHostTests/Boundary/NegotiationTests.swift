import Backplane
import CBackplane
import TestFixtures
import Testing

@testable import BackplaneHost

/// The ABI number: one out of both ranges, or nothing is touched.
struct NegotiationTests {
    @Test func `the highest common number of two ranges is chosen, and none where there is none`() {
        for (a, b, c, d) in combinations(of: 0...4) {
            let common = Set(a < b + 1 ? Array(a...b) : []).intersection(c < d + 1 ? Array(c...d) : [])
            #expect(bp_common_abi(a, b, c, d) == common.max() ?? BP_NO_ABI, "\(a)...\(b) and \(c)...\(d)")
        }
    }

    private func combinations(of range: ClosedRange<UInt32>) -> [(UInt32, UInt32, UInt32, UInt32)] {
        range.flatMap { a in range.flatMap { b in range.flatMap { c in range.map { d in (a, b, c, d) } } } }
    }

    @Test(arguments: [(0, 0), (0, 1), (0, .max)] as [(UInt32, UInt32)])
    func `a plugin chooses a number out of a host's range and its own`(lowest: UInt32, highest: UInt32) throws {
        let asked = OtherVersionHost(abi: lowest...highest).ask(ProbePlugin.self)
        #expect(asked.status == BP_OK)
        #expect(asked.answer.abi == 0)
    }

    @Test(arguments: [(1, 1), (1, 7), (.max, .max), (3, 0)] as [(UInt32, UInt32)])
    func `a plugin touches nothing when the host's range is another`(lowest: UInt32, highest: UInt32) {
        let asked = OtherVersionHost(abiMin: lowest, abiMax: highest).ask(ProbePlugin.self)
        #expect(asked.status == BP_UNIMPLEMENTED)
        #expect(asked.untouched == 0..<asked.offered)
    }

    @Test func `a host takes no number that the plugin's identity does not have`() throws {
        let identity = try LibraryIdentity(of: ELFImage(FixtureLibrary.bytes(abi: 3...5)), at: "libA.so")
        let answer = try PluginDescription(asking: ProbePlugin.self, getInterface: { _, _ in nil })
        let refusal = #expect(throws: BackplaneError.self) { try identity.requireAgreement(with: answer) }
        #expect(refusal?.code == .pluginABIMismatch)
        #expect(refusal?.message.contains("chose ABI 0, but its identity states 3 to 5") == true)
    }
}
