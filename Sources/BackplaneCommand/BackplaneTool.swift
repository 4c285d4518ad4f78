import ArgumentParser
import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTools
import Glibc

// Every command has a `commandName`. To derive a name, ArgumentParser would describe the type, which searches all
// libraries for conformances: this took a third of the time of `backplane --version`.
@main
struct BackplaneTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backplane", abstract: "Build, run and update applications that are composed of plugins.",
        discussion: """
            EXAMPLES
              backplane new package Tides
              backplane dev manifests/almanac.json
              backplane check manifests/almanac.json
              backplane call manifests/almanac.json AlmanacManager on '"07-20"'
              backplane run manifests/almanac.json
              backplane graph manifests/bookshelf-both.json
              backplane explain manifests/bookshelf-both.json LibraryManager
              backplane swap .build/debug/libAlmanac.so --dry-run
              backplane demo
            """,
        version: "\(HostVersion.text) (\(Engines.text))",
        groupedSubcommands: [
            CommandGroup(
                name: "Author", subcommands: [New.self, Dev.self, Check.self, Call.self, Validate.self]),
            CommandGroup(name: "Run", subcommands: [Run.self, Demo.self]),
            CommandGroup(
                name: "Look",
                subcommands: [
                    Graph.self, Explain.self, Services.self, Names.self, Inspect.self, Stats.self, Generations.self,
                    Events.self, Operations.self, Transfers.self,
                ]),
            CommandGroup(
                name: "Change", subcommands: [Swap.self, Apply.self, Rollback.self, Reset.self, LogLevel.self]),
            CommandGroup(
                name: "Data", subcommands: [Store.self, Cache.self, Credentials.self, Request.self, Convert.self]),
            // The following commands are hidden.
            CommandGroup(
                name: "Children", subcommands: [InspectChild.self, ValidateChild.self, EndChild.self, DevChild.self]),
        ])

    /// Runs the command like the default implementation, but fails if some of its output could not be written.
    static func main() async {
        // The reader of the output may exit at any time. A handler, because child processes would inherit SIG_IGN.
        signal(SIGPIPE, ignore)
        do {
            var command: any ParsableCommand
            do {
                command = try await asyncParseAsRoot()
            } catch {
                let arguments = Array(CommandLine.arguments.dropFirst())
                guard exitCode(for: error) != .success, let word = UnknownWord.find(in: arguments, of: self)
                else { throw error }
                Output.remark(word.report)
                throw ExitCode.validationFailure
            }
            if var command = command as? any AsyncParsableCommand {
                // Only commands that may create a host need its resources, unlike help, the version and requests.
                do throws(BackplaneError) { try ProcessNeeds.require() } catch { throw ExitCode(Output.fail(error)) }
                try await command.run()
            } else {
                try command.run()
            }
            exit(withError: ExitCode(Output.exitCode(0)))
        } catch let code as ExitCode {
            exit(withError: ExitCode(Output.exitCode(code.rawValue)))
        } catch {
            exit(withError: error)
        }
    }
}

/// Ignores a signal. A closure in `main` would belong to the main actor, and end the process on any other thread.
private func ignore(_ signal: Int32) {}

extension BackplaneTool {
    /// The process that kills a child of ``Inspect`` or ``Validate`` whose parent has ended.
    struct EndChild: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: ChildEnd.command, shouldDisplay: false)

        @Argument var child: Int32

        func run() { ChildEnd.run(child) }
    }
}

/// The first word of a command line that is neither a command nor an option of its command.
///
/// The parser stops at the first word that it rejects, which may be a correct word after the wrong one.
struct UnknownWord: CustomStringConvertible {
    private let word: String
    /// The command that precedes the word, as typed.
    private let command: String
    private let known: [String]

    /// Returns the unknown word among the arguments after the program's name; `nil` if there is none.
    static func find(in arguments: [String], of tool: any ParsableCommand.Type) -> UnknownWord? {
        var type = tool, words = [name(of: tool)], rest = arguments[...]
        while let first = rest.first, !first.hasPrefix("-"), !type.configuration.subcommands.isEmpty {
            let commands = type.configuration.subcommands
            guard let next = commands.first(where: { name(of: $0) == first }) else {
                if first == "help" { return nil }
                let shown = commands.filter { $0.configuration.shouldDisplay }.map { name(of: $0) }
                return UnknownWord(word: first, command: words.joined(separator: " "), known: shown)
            }
            type = next
            words.append(first)
            rest = rest.dropFirst()
        }
        let help = self.options(in: tool.helpMessage(for: type, includeHidden: true))
        let options = Set(help.matches(of: #/--[a-z0-9][a-z0-9-]*/#).map { String($0.output) } + ["--version"])
        let takers = Set(help.matches(of: #/(--?[A-Za-z0-9][a-z0-9-]*) </#).map { String($0.1) })
        while let word = rest.popFirst(), word != "--" {
            if takers.contains(word) {
                rest = rest.dropFirst()
            } else if word.hasPrefix("--"), case let name = String(word.prefix { $0 != "=" }), !options.contains(name) {
                return UnknownWord(word: name, command: words.joined(separator: " "), known: options.sorted())
            }
        }
        return nil
    }

    /// Returns the names and values of the options in a help text, without their descriptions.
    private static func options(in help: String) -> String {
        let lines = help.split(separator: "\n").drop { $0 != "OPTIONS:" }.filter { $0.hasPrefix("  -") }
        return lines.map { line in String(line.dropFirst(2).split(separator: "  ").first ?? "") }
            .joined(separator: "\n")
    }

    /// The text for standard error, which ends with the command that lists the alternatives.
    var report: String { "Error: \(self)\n  See '\(command) --help' for more information." }

    var description: String {
        let kind = word.hasPrefix("-") ? "option" : "command"
        // Options with the same first word are easily mistaken for each other.
        let relatives = known.filter { kind == "option" && stem(of: $0) == stem(of: word) }
        let question =
            NameSuggestions(for: word, among: known).question
            ?? relatives.first.map { "did you mean `\($0)`?" } ?? "`\(command) --help` lists them"
        return "`\(command)` has no \(kind) `\(word)`; \(question)"
    }

    /// Returns the first word of an option, in the singular.
    private func stem(of option: String) -> Substring {
        let first = option.dropFirst(2).prefix { $0 != "-" }
        return first.hasSuffix("s") ? first.dropLast() : first
    }

    private static func name(of type: any ParsableCommand.Type) -> String {
        type.configuration.commandName ?? "\(type)".lowercased()
    }
}
