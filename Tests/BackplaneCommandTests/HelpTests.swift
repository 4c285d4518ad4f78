import ArgumentParser
import Testing

@testable import BackplaneCommand

@Suite(.timeLimit(.minutes(2)))
struct HelpTests {
    /// A verb with its words, such as `new package`.
    struct Verb: Sendable, CustomTestStringConvertible {
        var words: [String]
        var command: any ParsableCommand.Type
        var testDescription: String { words.joined(separator: " ") }

        /// The verb and all those below it.
        var all: [Verb] {
            var all = [self]
            for verb in command.configuration.subcommands where verb.configuration.shouldDisplay {
                all += Verb(words: words + [verb._commandName], command: verb).all
            }
            return all
        }
    }

    @Test(arguments: Verb(words: [], command: BackplaneTool.self).all)
    func `every verb explains itself`(verb: Verb) throws {
        #expect(BackplaneTool.helpMessage(for: verb.command, columns: 80).hasPrefix("OVERVIEW: "))
    }

    @Test func `help and the version are printed, with the engines, and end well`() async throws {
        for arguments in [[], ["--help"]] {
            let outcome = try await Tool().start(arguments).end()
            #expect(outcome.status == 0 && outcome.errors == "" && outcome.output.contains("call"))
        }
        let outcome = try await Tool().plain("--version")
        #expect(outcome.status == 0)
        #expect(outcome.output.wholeMatch(of: /\d+\.\d+\.\d+ \(HTTP: AsyncHTTPClient; store: SQLite\)\n/) != nil)
    }

    @Test(arguments: [
        ["check", Tool.almanac, "--fast"], ["call", Tool.almanac, "ClockManager", "now", "null", "more"],
        ["call", Tool.almanac, "ClockManager", "now", "--timeout", "soon"], ["check", Tool.almanac, "--data"],
        ["graph", Tool.almanac, "--format", "svg"], ["swap"], ["swap", "Clock", "--probation", "0"],
        ["swap", "Clock", "--error-rate", "0.1"], ["swap", "Clock", "--socket", "a", "--manifest", "b"],
        ["rollback", "a", "--to", "first"], ["log-level", "=debug"],
        ["check", Tool.almanac, "--manifest", Tool.almanac], ["run", Tool.almanac, "--log-level", "org.a=loud"],
        ["inspect", "Clock", "--timeout", "0"], ["new", "zebra"],
    ])
    func `arguments that it does not understand are misuse`(arguments: [String]) throws {
        let error = #expect(throws: (any Error).self) { _ = try BackplaneTool.parseAsRoot(arguments) }
        #expect(BackplaneTool.exitCode(for: try #require(error)) == .validationFailure)
    }

    @Test(arguments: [
        ["fly"], ["call"], ["call", Tool.almanac, "ClockManager", "now", "--json"],
        ["explain", "A", "--running", "--environment", ""], ["services", "--running", "--plugin-path", "."],
        ["new", "plugin", "a/B"],
    ])
    func `misuse is exit code 64, and nothing on standard output`(arguments: [String]) async throws {
        let outcome = try await Tool().start(arguments).end()
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(outcome.output == "" && outcome.errors != "")
    }
}
