import CBackplane
import Testing

@testable import BackplaneTools

/// What checks come to.
struct VerdictTests {
    @Test func `nothing found is passed, and a remark is no finding`() {
        #expect(Verdict.judging([]) == .passed)
        #expect(Verdict.judging([], remarks: ["by the way"]) == Verdict(result: .passed, details: ["by the way"]))
        #expect(Verdict.judging(["this"], remarks: ["by the way"]) == .failed(["this", "by the way"]))
    }

    @Test func `the report has every rule once, in the order of their numbers, and its failures`() {
        let report = ValidationReport("/lib.so", ["V01": .failed(["why"])]), ids = report.requirements.map(\.id)
        #expect(ids == ids.sorted() && Set(ids).count == Rule.all.count)
        #expect(!report.isValid && report.requirements[0].result == .failed)
        #expect(report.requirements[0].details == ["why"])
    }

    @Test func `what is skipped or not applicable is no failure`() {
        for verdict in [Verdict.skipped("no time"), .notApplicable("nothing there")] {
            #expect(ValidationReport("/lib.so", ["V01": verdict]).isValid)
        }
    }

    @Test func `a rule needs rules that come before it`() {
        for (number, rule) in Rule.all.enumerated() {
            #expect(Set(rule.needs).isSubset(of: Rule.all[..<number].map(\.id)), "\(rule.id)")
        }
    }

    @Test func `a rule is skipped after a failure, and as little applicable as what it needs`() throws {
        let rule = try #require(Rule.all.first { $0.id == "V22" })
        #expect(rule.verdict(after: [:]) == nil)
        #expect(rule.verdict(after: ["V21": .passed]) == nil)
        #expect(rule.verdict(after: ["V21": .failed(["a crash"])]) == .skipped("V21 must pass first"))
        let none = Verdict.notApplicable("it registers no components")
        #expect(rule.verdict(after: ["V21": none]) == none)
        let skipped = Verdict.skipped("V01 must pass first")
        #expect(rule.verdict(after: ["V21": skipped]) == skipped)
    }

    @Test func `what has methods is not said to have none where they could not be called`() {
        #expect(Verdict.judging(0, of: 0, "methods", [], []) == .notApplicable("it has no methods"))
        let why = Verdict.skipped("not checked, because no component with methods could be activated; Worker cannot")
        #expect(Verdict.judging(0, of: 2, "methods", ["Worker cannot"], []) == why)
        let remark = Verdict(result: .passed, details: ["not checked, because Worker cannot"])
        #expect(Verdict.judging(1, of: 2, "methods", ["Worker cannot"], []) == remark)
    }

    @Test func `a late answer to a cancelled call ignores it, unless it is a cancellation`() {
        #expect(ComponentProbe.isIgnored(0, after: .milliseconds(501)))
        #expect(!ComponentProbe.isIgnored(0, after: .milliseconds(499)))
        #expect(!ComponentProbe.isIgnored(Int32(BP_CANCELLED), after: .seconds(3)))
    }

    @Test func `an answer is as its status says`() {
        func fault(_ status: Int, _ payload: String, _ kind: Question.Kind = .call) -> String? {
            let answer = Question.Answer(status: Int32(status), payload: Array(payload.utf8), instance: 0)
            return ComponentProbe.fault(of: answer, to: kind)
        }
        #expect(fault(Int(BP_OK), "[1]") == nil && fault(Int(BP_OK), "", .step) == nil)
        #expect(fault(Int(BP_OK), "[1") == "a result that is not JSON")
        #expect(fault(99, "") == "with the unknown status 99")
        #expect(fault(Int(BP_FAILED), "no") == nil && fault(Int(BP_FAILED), "\u{7}") != nil)
        #expect(fault(Int(BP_ERROR), "no") == "BP_ERROR without the JSON of an error")
        #expect(fault(Int(BP_END), "", .elements) == nil)
    }
}
