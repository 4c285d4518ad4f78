import Backplane
import CBackplane
import Testing

/// A plugin of this SDK in hosts that know more of a struct than it does, or less.
///
/// All structs end where the readable memory ends, so that one byte too many is a crash.
struct PluginGrowthTests {
    @Test(arguments: [0, 8, 40, 4_096]) func `a longer offer is read as far as it is known`(more: Int) {
        var host = OtherVersionHost()
        host.offerSize += more
        #expect(host.ask(ProbePlugin.self).status == BP_OK)
    }

    @Test(arguments: [4, 8, 16, 40, 48]) func `an offer without what a plugin needs is declined, and nothing touched`(
        size: Int
    ) {
        var host = OtherVersionHost()
        host.offerSize = size
        let asked = host.ask(ProbePlugin.self)
        #expect(asked.status == BP_UNIMPLEMENTED)
        #expect(asked.untouched == 0..<asked.offered)
    }

    @Test func `an answer is written as far as both sides know it, whatever its size`() {
        let known = MemoryLayout<bp_answer>.size
        for size in stride(from: 8, through: known + 160, by: 8) {
            var host = OtherVersionHost()
            host.answerSize = size
            let asked = host.ask(ProbePlugin.self)
            #expect(asked.status == BP_OK)
            #expect(Int(asked.answer.size) == min(size, known), "it says how far it knows the answer")
            #expect(asked.untouched.lowerBound <= known, "of \(size) bytes offered")
            if size >= MemoryLayout<bp_answer>.offset(of: \.toolchain)! {
                #expect(asked.answer.id.text == "org.example.probe" && asked.answer.version.text == "1.0.0")
            }
        }
    }
}
