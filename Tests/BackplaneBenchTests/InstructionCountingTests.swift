import Testing

@testable import BackplaneBench

@Suite struct InstructionCountingTests {
    private let rows: [Row] = {
        var over = Row.canned("over", unit: .microseconds, target: .median(atMost: 20))
        over.overhead = Row.Overhead(row: "called", baseline: "written", bound: 50_000)
        return [
            .canned("written"), .canned("called", baseline: "written"), over, .canned("alone"),
            .canned("half", baseline: "whole", target: .ratio(atMost: 0.5)), .canned("whole"),
            .canned("memory", unit: .bytes, baseline: "alone", target: .ratio(atMost: 1)),
        ]
    }()

    @Test func `rows with a ratio of times are counted, and those from which others are derived`() {
        let counted = InstructionCounting.rows(rows, of: rows)
        #expect(counted.map(\.name) == ["written", "called", "over", "half", "whole"])
        #expect(counted.allSatisfy { $0.unit == .instructions })
        #expect(counted.map(\.target) == [nil, nil, .median(atMost: 50_000), .ratio(atMost: 0.5), nil])
        let one = InstructionCounting.rows(Selection.rows(rows, matching: "over", reference: nil), of: rows)
        #expect(one.map(\.name) == ["written", "called", "over"])
    }

    @Test(arguments: [(1_000, true), (50_001, true), (50_002, false)] as [(Double, Bool)])
    func `a derived row is the difference of two, and is judged`(called: Double, met: Bool) throws {
        let samples = ["written": Sample([1]), "called": Sample([called])]
        let overheads = InstructionCounting.overheads(rows, samples)
        #expect(Array(overheads.keys) == ["over"])
        let row = try #require(InstructionCounting.rows(rows, of: rows).first { $0.name == "over" })
        let result = try #require(RowResult(row, in: "suite", overheads, reference: nil))
        #expect(result.median == called - 1 && result.met == met && result.unit == .instructions)
        #expect(InstructionCounting.overheads(rows, ["called": Sample([1])]).isEmpty)
    }

    @Test func `a call by name has a bound in instructions`() throws {
        let rows = try DefinitionRows().calling
        let counted = InstructionCounting.rows(rows, of: rows)
        #expect(counted.map(\.name) == rows.map(\.name))
        #expect(counted.last?.target == .median(atMost: 50_000))
    }

    @Test func `callgrind's report has the number`() {
        let report = "==7== Events    : Ir\n==7== Collected : 56789\n==7==\n"
        #expect(InstructionCounting.collected(in: report) == 56_789)
        #expect(InstructionCounting.collected(in: "==7== Events : Ir") == nil)
    }

    @Test func `valgrind's own errors are told`() {
        let report = """
            ==7== Command: backplane bench
            ==7== Valgrind: debuginfo reader: Possibly corrupted debuginfo file.
            ==7== Valgrind: I can't recover.  Giving up.  Sorry.
            """
        #expect(
            InstructionCounting.complaint(in: report)
                == "debuginfo reader: Possibly corrupted debuginfo file. I can't recover.  Giving up.  Sorry.")
        #expect(InstructionCounting.complaint(in: "==7== Collected : 56789") == nil)
    }
}
