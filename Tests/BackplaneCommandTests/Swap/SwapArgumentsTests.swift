#if Engines
import ArgumentParser
import BackplaneControl
import BackplaneHost
import Testing

@testable import BackplaneCommand

/// The options of the commands that swap, from their words to what the host receives.
@Suite struct SwapArgumentsTests {
    @Test func `each option for callers and state has its effect, and no other`() throws {
        func options(_ words: String...) throws -> SwapOptions? { try LongCallArguments.parse(words).options }
        func drain(_ limit: Duration = .milliseconds(200), then fallback: DrainPolicy.Fallback = .later) -> SwapOptions
        {
            SwapOptions(drain: .upTo(limit, then: fallback))
        }
        #expect(try options() == nil)
        #expect(try options("--allow-missing") == SwapOptions(allowsMissingMethods: true))
        #expect(try options("--encoded-state") == SwapOptions(encodesState: true))
        #expect(try options("--abandon-graphs") == SwapOptions(abandonsGraphs: true))
        #expect(try options("--drain", "1.5") == drain(.seconds(1.5)))
        #expect(try options("--long-calls", "cancel") == drain(then: .cancel))
        #expect(try options("--retries", "7") == drain(then: .retry(attempts: 7, within: .seconds(600))))
        #expect(try options("--retry-for", "60") == drain(then: .retry(attempts: 100, within: .seconds(60))))
        for wrong in [["--drain", "0"], ["--drain", "soon"], ["--long-calls", "never"], ["--retries", "0"]] {
            #expect(throws: (any Error).self) { try LongCallArguments.parse(wrong) }
        }
    }

    @Test func `a swap receives its options`() throws {
        let command = try BackplaneTool.Swap.parse([
            "Almanac", "--discard-state", "--probation", "30", "--error-rate", "0.05", "--timeout", "5", "--trust",
            "--encoded-state", "--socket", "/run/host", "--dry-run",
        ]).command
        #expect(
            command.options
                == SwapOptions(
                    probation: Probation(duration: .seconds(30), errorRate: 0.05), stepLimit: .seconds(5),
                    discardsState: true, trustsLibraries: true, encodesState: true))
        #expect(command.libraries == ["Almanac"] && command.manifest == nil && command.isDry && !command.json)
        #expect(command.host.socket == "/run/host")
        #expect(try BackplaneTool.Swap.parse(["Almanac"]).command.options == SwapOptions())
        let applying = try BackplaneTool.Swap.parse(["--apply", "m.json", "--environment", "test"]).command
        #expect(applying.manifest == "m.json" && applying.environment == "test" && applying.libraries.isEmpty)
        #expect(throws: (any Error).self) { try BackplaneTool.Swap.parse(["Almanac", "--environment", "test"]) }
        #expect(throws: (any Error).self) { try BackplaneTool.Swap.parse([]) }
    }

    @Test func `each option of apply has its effect, and no other`() throws {
        let effects: [(option: String, property: KeyPath<ApplyCommand, Bool>)] = [
            ("--empty", \.allowsEmpty), ("--trust", \.trustsLibraries), ("--allow-missing", \.allowsMissingMethods),
            ("--discard-state", \.discardsState), ("--encoded-state", \.encodesState),
            ("--abandon-graphs", \.abandonsGraphs), ("--json", \.json),
        ]
        for given in effects {
            let command = try BackplaneTool.Apply.parse(["m.json", given.option]).command
            for effect in effects {
                #expect(command[keyPath: effect.property] == (effect.option == given.option), "\(given.option)")
            }
        }
        let command = try BackplaneTool.Apply.parse(["m.json", "--environment", "test"]).command
        #expect(command.manifest == "m.json" && command.environment == "test")
    }
}
#endif
