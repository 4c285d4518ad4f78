import ArgumentParser
import BackplaneControl
import BackplaneHost
import Testing

@testable import BackplaneCommand

/// The options of the commands that swap, from their words to what the host receives.
struct SwapArgumentsTests {
    @Test func `each option for callers and state has its effect, and no other`() throws {
        func options(_ words: String...) throws -> ChangeOptions? { try LongCallArguments.parse(words).options }
        func drain(_ limit: Duration = .milliseconds(200), then fallback: DrainPolicy.Fallback = .later)
            -> ChangeOptions
        {
            ChangeOptions(drain: .upTo(limit, then: fallback))
        }
        #expect(try options() == nil)
        #expect(try options("--allow-missing") == ChangeOptions(allowsMissingMethods: true))
        #expect(try options("--encoded-state") == ChangeOptions(encodesState: true))
        #expect(try options("--drain", "1.5") == drain(.seconds(1.5)))
        #expect(try options("--long-calls", "cancel") == drain(then: .cancel))
        #expect(try options("--retries", "7") == drain(then: .retry(attempts: 7, within: .seconds(600))))
        #expect(try options("--retry-for", "60") == drain(then: .retry(attempts: 100, within: .seconds(60))))
        for wrong in [["--drain", "0"], ["--drain", "soon"], ["--long-calls", "never"], ["--retries", "0"]] {
            #expect(throws: (any Error).self) { try LongCallArguments.parse(wrong) }
        }
    }

    @Test func `the other options of a swap are understood, or refused with what was expected`() throws {
        func options(_ words: String...) throws -> ChangeOptions { try ChangeOptionsArguments.parse(words).options }
        #expect(try options() == ChangeOptions())
        #expect(
            try options("--probation", "30", "--error-rate", "0.05", "--timeout", "5", "--discard-state")
                == ChangeOptions(
                    probation: Probation(duration: .seconds(30), errorRate: 0.05), stepLimit: .seconds(5),
                    discardsState: true))
        for wrong in [
            ["--probation", "0"], ["--probation", "nan"], ["--timeout", "inf"], ["--error-rate", "0.1"],
            ["--probation", "1", "--error-rate", "1.1"], ["--drain", "0"], ["--long-calls", "fail", "--retries", "1"],
            ["--retry-for", "nan"], ["--long-calls", "cancel", "--retry-for", "1"],
        ] {
            #expect(throws: (any Error).self, "\(wrong)") { try ChangeOptionsArguments.parse(wrong) }
        }
    }

    @Test func `a swap receives its options`() throws {
        let swap = try BackplaneTool.Swap.parse([
            "Almanac", "--discard-state", "--probation", "30", "--error-rate", "0.05", "--timeout", "5", "--trust",
            "--encoded-state", "--socket", "/run/host", "--dry-run",
        ])
        #expect(
            try swap.options
                == ChangeOptions(
                    probation: Probation(duration: .seconds(30), errorRate: 0.05), stepLimit: .seconds(5),
                    discardsState: true, trustsLibraries: true, encodesState: true))
        #expect(try swap.host.choice.socket == "/run/host")
        #expect(try BackplaneTool.Swap.parse(["Almanac"]).options == ChangeOptions())
        #expect(throws: (any Error).self) { try BackplaneTool.Swap.parse(["Almanac", "--environment", "test"]) }
        #expect(throws: (any Error).self) { try BackplaneTool.Swap.parse([]) }
    }

    @Test func `apply receives the same options`() throws {
        let apply = try BackplaneTool.Apply.parse([
            "m.json", "--discard-state", "--probation", "30", "--allow-missing", "--trust", "--encoded-state",
            "--dry-run",
        ])
        #expect(
            try apply.options
                == ChangeOptions(
                    probation: Probation(duration: .seconds(30)), discardsState: true, trustsLibraries: true,
                    allowsMissingMethods: true, encodesState: true))
        #expect(try BackplaneTool.Apply.parse(["m.json"]).options == ChangeOptions())
    }
}
