import CBackplane
import Foundation
import Glibc
import Testing

@testable import BackplaneTools

/// What facts come to.
@Suite struct VerdictTests {
    @Test func `nothing found is passed, and a remark is no finding`() {
        #expect(Verdict(findings: []) == .passed())
        #expect(Verdict(findings: [], remarks: ["by the way"]) == .passed(["by the way"]))
        #expect(Verdict(findings: ["this"], remarks: ["by the way"]) == .failed(["this", "by the way"]))
    }

    @Test func `the report has every requirement once, in the order of their numbers`() {
        let report = ValidationReport("/lib.so", [.file: .failed(["why"])])
        #expect(report.requirements.map(\.id) == report.requirements.map(\.id).sorted())
        #expect(Set(report.requirements.map(\.id)).count == Requirement.allCases.count)
        #expect(
            !report.isValid && report.requirements[0].result == "failed" && report.requirements[0].details == ["why"])
    }

    @Test func `what is skipped or not applicable is no failure`() {
        #expect(ValidationReport("/lib.so", Verdicts(Requirement.allCases, .skipped("no time"))).isValid)
        #expect(ValidationReport("/lib.so", Verdicts(Requirement.allCases, .notApplicable("nothing there"))).isValid)
    }

    @Test func `what comes after a failure is skipped, and what is known stays known`() {
        let verdicts: Verdicts = [.creation: .failed(["a crash"]), .texts: .passed()]
        let all = verdicts.skipping(Requirement.ofComponents, because: .creation)
        #expect(
            all[.creation] == .failed(["a crash"]) && all[.texts] == .passed()
                && all[.stop] == .skipped("V21 must pass first"))
        #expect(all.count == Requirement.ofComponents.count)
    }

    @Test func `every requirement is asked in one part of the report`() {
        #expect(Requirement.ofFile + Requirement.ofEntry + Requirement.ofComponents == Requirement.allCases)
    }

    @Test func `a component that cannot be activated is no failure, and said to be not tried`() {
        #expect(LifeFacts(refused: ["Worker"], lived: 1).verdicts[.stop] == .passed(["not checked further: Worker"]))
    }

    @Test func `where none can be activated, nothing is said of how they stop or what they leave`() {
        let why = Verdict.skipped("not checked, because no component could be activated: Worker")
        #expect(LifeFacts(refused: ["Worker"]).verdicts == [.stop: why, .leftovers: why])
        var left = Remains()
        left.closed = ["standard output"]
        #expect(
            LifeFacts(refused: ["Worker"], left: left).verdicts[.leftovers]
                == .failed(["it closed standard output, which it did not open"]))
    }

    @Test func `a late answer to a cancelled call fails, unless it is a cancellation`() {
        #expect(CancellationFacts.isUnheeded(0, after: .milliseconds(501)))
        #expect(CancellationFacts.isUnheeded(1, after: .seconds(3)))
        #expect(!CancellationFacts.isUnheeded(0, after: .milliseconds(499)))
        #expect(!CancellationFacts.isUnheeded(Int32(BP_CANCELLED), after: .seconds(3)))
        #expect(
            CancellationFacts(methods: 1, declared: 1, findings: ["it went on"]).verdicts[.cancellation]
                == .failed(["it went on"]))
    }

    @Test func `what has methods or state is not said to have none where it could not be asked`() {
        #expect(InputFacts().verdicts[.malformed] == .notApplicable("it has no methods"))
        let why = Verdict.skipped(
            "not checked, because no component with methods could be activated; Worker could not be activated: no")
        #expect(InputFacts(declared: 2, untried: ["Worker could not be activated: no"]).verdicts[.malformed] == why)
        #expect(
            CancellationFacts(declared: 2, untried: ["Worker could not be activated: no"]).verdicts[.cancellation]
                == why)
        #expect(
            InputFacts(methods: 1, declared: 2, untried: ["Worker cannot"]).verdicts[.malformed]
                == .passed(["not checked, because Worker cannot"]))
        #expect(StateFacts().verdicts[.state] == .notApplicable("no component has state"))
        #expect(
            StateFacts(declared: 1).verdicts[.state]
                == .skipped("not checked, because no component with state could be created twice and activated"))
    }

    @Test func `a conduct is judged over all trials, each finding once`() {
        let one = Conduct(repeated: ["it answered twice"]),
            other = Conduct(repeated: ["it answered twice"], unreadable: ["a", "b", "c", "d", "e", "f"])
        let verdicts = Conduct.verdicts(of: [one, other])
        #expect(verdicts[.once] == .failed(["it answered twice"]))
        #expect(verdicts[.texts] == .failed(["a", "b", "c", "d", "and 2 more"]))
    }
}
