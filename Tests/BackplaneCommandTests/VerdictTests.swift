import Testing

@testable import BackplaneCommand

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
        #expect(!report.isValid && report.requirements[0].result == "failed" && report.requirements[0].details == ["why"])
    }

    @Test func `what is skipped or not applicable is no failure`() {
        #expect(ValidationReport("/lib.so", Verdicts(Requirement.allCases, .skipped("no time"))).isValid)
        #expect(ValidationReport("/lib.so", Verdicts(Requirement.allCases, .notApplicable("nothing there"))).isValid)
    }

    @Test func `what comes after a failure is skipped, and what is known stays known`() {
        let verdicts: Verdicts = [.creation: .failed(["a crash"]), .texts: .passed()]
        let all = verdicts.skipping(Requirement.ofComponents, because: .creation)
        #expect(all[.creation] == .failed(["a crash"]) && all[.texts] == .passed() && all[.stop] == .skipped("V21 comes first"))
        #expect(all.count == Requirement.ofComponents.count)
    }

    @Test func `every requirement is asked in one part of the report`() {
        #expect(Requirement.ofFile + Requirement.ofEntry + Requirement.ofComponents == Requirement.allCases)
    }

    @Test(arguments: [
        (EffortFacts(nanoseconds: 2_600, instructions: 71), nil, ["about 71 instructions", "3 µs on the processor"]),
        (EffortFacts(nanoseconds: 2_600), .seen(.counted(70)), ["70 instructions", "3 µs on the processor"]),
        (EffortFacts(nanoseconds: 0), .seen(.moreThan(9)), ["more than 9 instructions", "0 µs on the processor"]),
        (
            EffortFacts(nanoseconds: 0), .seen(.before(call: "clone3", 8)),
            ["8 instructions before its system call clone3, from which on nobody counts", "0 µs on the processor"]
        ),
        (EffortFacts(nanoseconds: 0), .seen(.notCounted), ["this machine lets nobody count instructions", "0 µs on the processor"]),
        (EffortFacts(nanoseconds: 0), .lost(["it came to no end"]), ["its instructions are not counted:", "it came to no end", "0 µs on the processor"]),
    ] as [(EffortFacts, Observation<StepFacts>?, [String])])
    func `what an entry costs is told and not judged, however it was counted`(facts: EffortFacts, steps: Observation<StepFacts>?, told: [String]) {
        #expect(facts.verdicts(steps) == [.effort: .passed(told)])
    }

    @Test func `a component that cannot be activated is no failure, and said to be not tried`() {
        #expect(LifeFacts(refused: ["Worker"]).verdicts[.stop] == .passed(["not tried further: Worker"]))
    }

    @Test func `what has methods or state is not said to have none where it could not be asked`() {
        #expect(InputFacts().verdicts[.malformed] == .notApplicable("it has no methods"))
        #expect(InputFacts(declared: 2).verdicts[.malformed] == .notApplicable("no component with methods could be activated"))
        #expect(CancellationFacts(declared: 2).verdicts[.cancellation] == .notApplicable("no component with methods could be activated"))
        #expect(StateFacts().verdicts[.state] == .notApplicable("no component has state"))
        #expect(StateFacts(declared: 1).verdicts[.state] == .notApplicable("no component with state could be made twice and activated"))
    }

    @Test func `a conduct is judged over all trials, each finding once`() {
        let one = Conduct(repeated: ["it answered twice"]), other = Conduct(repeated: ["it answered twice"], unreadable: ["a", "b", "c", "d", "e", "f"])
        let verdicts = Conduct.verdicts(of: [one, other])
        #expect(verdicts[.once] == .failed(["it answered twice"]))
        #expect(verdicts[.texts] == .failed(["a", "b", "c", "d", "and 2 more"]))
    }
}
