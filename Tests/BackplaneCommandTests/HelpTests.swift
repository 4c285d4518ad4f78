import ArgumentParser
import TestFixtures
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

    @Test func `the verbs are listed in groups, each once`() {
        let help = BackplaneTool.helpMessage(columns: 80)
        var groups: [String: [String]] = [:], group = ""
        for line in help.split(separator: "\n") {
            if line.hasSuffix(" SUBCOMMANDS:") {
                group = String(line.dropLast(" SUBCOMMANDS:".count))
            } else if let verb = line.prefixMatch(of: /\ \ ([a-z-]+)(?:\ \ |$)/), !group.isEmpty {
                groups[group, default: []].append(String(verb.1))
            }
        }
        #expect(
            groups == [
                "AUTHOR": ["new", "dev", "check", "call", "validate"], "RUN": ["run", "demo"],
                "LOOK": [
                    "graph", "explain", "services", "names", "inspect", "stats", "generations", "events", "operations",
                    "transfers",
                ],
                "CHANGE": ["swap", "apply", "rollback", "reset", "log-level"],
                "DATA": ["store", "cache", "credentials", "request", "convert"],
            ])
        #expect(help.contains("See 'backplane help <subcommand>'"))
    }

    @Test(arguments: [["--help"], ["convert", Tool.almanac, "--to", "xml"]])
    func `output that nobody reads is no error`(arguments: [String]) async throws {
        let tool = try Tool()
        // The writer begins when the reader has closed its end.
        let line = #"mkfifo "$0"; { cat <"$0"; "$@"; echo "over, $?" >&2; } | { exec <&-; : >"$0"; }"#
        let words = ["-c", line, tool.folder + "/gone", BuiltProducts.folder + "/backplane"] + arguments
        let piped = try RunningTool(
            words, of: "/bin/sh", input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder])
        let outcome = await piped.end()
        #expect(outcome.errors == "over, 0\n")
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
        ["check", Tool.almanac, "--fast"], ["call"], ["call", Tool.almanac, "ClockManager", "now", "null", "more"],
        ["call", Tool.almanac, "ClockManager", "now", "--timeout", "soon"],
        ["call", Tool.almanac, "ClockManager", "now", "--timeout", "0"],
        ["call", Tool.almanac, "ClockManager", "now", "--timeout", "nan"],
        ["call", Tool.almanac, "ClockManager", "--trace"], ["check", Tool.almanac, "--data"],
        ["graph", Tool.almanac, "--mermaid", "--dot"], ["graph", Tool.almanac, "--socket", "/nowhere"], ["swap"],
        ["swap", "Clock", "--probation", "0"], ["swap", "Clock", "--error-rate", "0.1"],
        ["swap", "Clock", "--socket", "a", "--manifest", "b"], ["rollback", "a", "--to", "first"],
        ["log-level", "=debug"], ["check", Tool.almanac, "--manifest", Tool.almanac],
        ["run", Tool.almanac, "--log-level", "org.a=loud"], ["run", Tool.almanac, "--serve", "here"],
        ["run", Tool.almanac, "--web-address", "here"], ["run", Tool.almanac, "--terminal", "--json"],
        ["run", Tool.almanac, "--terminal", "--web"], ["run", Tool.almanac, "--fall-through"],
        ["run", Tool.almanac, "--mock", "/none"], ["inspect", "Clock", "--timeout", "0"], ["new", "zebra"],
        ["cache", "flush"], ["cache", "flush", "--all", "--tag", "a"], ["cache", "show"],
        ["cache", "list", "--limit", "0"], ["cache", "stats", "--socket", "a", "--manifest", "b"],
        ["request", "http://books.test/", "--record", "a", "--replay", "a"],
        ["request", "http://books.test/", "--data", "a", "--json", "1"],
        ["request", "http://books.test/", "--json", "{"],
        ["request", "http://books.test/", "--form", "a"], ["request", "http://books.test/", "-H", "no colon"],
        ["request", "http://books.test/", "--credentials", "library"],
        ["request", "http://books.test/", "--account", "ann"],
        ["request", "http://books.test/", "--data-folder", "data"],
        ["request", "http://books.test/", "--format", "json"],
        ["transfers", "get", "http://books.test/"], ["transfers", "get", "http://books.test/a", "--sha256", "a"],
        ["credentials", "sign-in", "library", "--value", "reader"], ["store", "list", "--socket", "a", "--data", "b"],
    ])
    func `arguments that it does not understand are misuse`(arguments: [String]) throws {
        let error = #expect(throws: (any Error).self) { _ = try BackplaneTool.parseAsRoot(arguments) }
        #expect(BackplaneTool.exitCode(for: try #require(error)) == .validationFailure)
    }

    @Test(arguments: [["list"], ["dump", "Shelf", "numbers"], ["restore", "-"]])
    func `a word too many for a store is told how a store is chosen`(words: [String]) throws {
        let error = #expect(throws: (any Error).self) {
            _ = try BackplaneTool.parseAsRoot(["store"] + words + [Tool.almanac])
        }
        #expect(
            BackplaneTool.message(for: try #require(error))
                == "unexpected argument `\(Tool.almanac)`; --manifest or --data chooses the store")
    }

    @Test func `what stands after two dashes is an input, not an option`() throws {
        let words = ["call", Tool.almanac, "ClockManager", "echo", "--", "--five"]
        let call = try #require(try BackplaneTool.parseAsRoot(words) as? BackplaneTool.Call)
        #expect(try call.given().input == "--five")
        #expect(UnknownWord.find(in: words, of: BackplaneTool.self) == nil)
    }

    @Test(arguments: [
        ["fly"], ["call", Tool.almanac, "ClockManager", "now", "--json"],
        ["explain", "A", "--running", "--environment", ""], ["call", "A", "m", "--running", "--record", "a"],
        ["dev", Tool.almanac, "--running", "--web"],
    ])
    func `misuse is exit code 64, and nothing on standard output`(arguments: [String]) async throws {
        let outcome = try await Tool().start(arguments).end()
        #expect(outcome.status == 64, "\(outcome.errors)")
        #expect(outcome.output == "" && outcome.errors != "")
    }

    // MARK: Misspelt words

    private static let commands = [
        "new", "dev", "run", "call", "check", "graph", "explain", "services", "names", "convert", "request", "inspect",
        "validate", "demo", "swap", "rollback", "generations", "stats", "events", "log-level", "apply", "reset",
        "store", "transfers", "operations", "cache", "credentials",
    ]

    @Test(arguments: [0, 4, 12])
    func `a command that is misspelt is named, with the one that is meant`(index: Int) throws {
        var numbers = SeededNumbers(ofCase: index)
        let right = Self.commands[index], wrong = Misspelling(of: right, besides: Self.commands, &numbers).text
        let word = try #require(UnknownWord.find(in: [wrong, "anything", "--more"], of: BackplaneTool.self))
        #expect(
            "\(word)".contains("has no command `\(wrong)`; did you mean") && "\(word)".contains("`\(right)`"), "\(word)"
        )
    }

    @Test(arguments: 0..<3 as Range<UInt64>)
    func `an option that is misspelt is named before what follows it is read`(seed: UInt64) throws {
        var numbers = SeededNumbers(ofCase: seed)
        let options = ["plugin-path", "environment", "timeout", "load-folder", "running", "traceparent"]
        let right = numbers.pick(options), wrong = Misspelling(of: right, besides: options, &numbers).text
        let words = ["call", Tool.almanac, "ClockManager", "now", "--\(wrong)", ".build/debug"]
        let word = try #require(UnknownWord.find(in: words, of: BackplaneTool.self))
        #expect(
            "\(word)".contains("`backplane call` has no option `--\(wrong)`; did you mean")
                && "\(word)".contains("`--\(right)`"), "\(word)")
    }
}
