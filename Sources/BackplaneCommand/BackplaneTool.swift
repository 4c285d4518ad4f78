import ArgumentParser
import Backplane
import BackplaneHost
import BackplaneTools

@main
struct BackplaneTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backplane", abstract: "Build, run and update applications that are composed of plugins.",
        discussion: """
            EXAMPLES
              backplane check manifests/almanac.json
              backplane call manifests/almanac.json AlmanacManager on '"07-20"'
              backplane run manifests/almanac.json
              backplane dev manifests/almanac.json
              backplane call AlmanacManager on '"07-20"' --running
              backplane swap .build/debug/libAlmanac.so --dry-run
              backplane generations
              backplane events
              backplane log-level org.backplane.almanac=debug
              backplane operations list
              backplane store list
              backplane cache stats
              backplane graph manifests/bookshelf-both.json
              backplane explain manifests/bookshelf-both.json LibraryManager
              backplane services manifests/bookshelf-both.json
              backplane names manifests/bookshelf.json
              backplane convert manifests/almanac.plist --upgrade
              backplane request https://www.swift.org --verbose
              backplane credentials list manifests/bookshelf.json
              backplane transfer get https://www.swift.org/index.html
              backplane inspect .build/debug/libClock.so
              backplane validate .build/debug/libClock.so
              backplane new package Tides
              backplane demo
            """,
        version: "\(HostVersion.text) (\(Engines.text))",
        subcommands: [
            New.self, Dev.self, Run.self, Call.self, Check.self, Graph.self, Explain.self, Services.self, Names.self,
            Convert.self, Request.self, Credentials.self, TransferFiles.self, Inspect.self,
            Validate.self, Demo.self,
            Swap.self, Rollback.self, Generations.self, Stats.self, Events.self, LogLevel.self, Apply.self, Reset.self,
            Operations.self, Store.self, Cache.self,
            InspectChild.self, ValidateChild.self, EndChild.self, DevChild.self,
        ])

    /// Runs the command like the default implementation, but fails if some of its output could not be written.
    static func main() async {
        do throws(BackplaneError) { try ProcessNeeds.require() } catch { exit(withError: ExitCode(Output.fail(error))) }
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            var command: any ParsableCommand
            do {
                command = try await asyncParseAsRoot()
            } catch {
                guard exitCode(for: error) != .success, let word = UnknownWord.find(in: arguments, of: self)
                else { throw error }
                Output.remark(word.report)
                throw ExitCode.validationFailure
            }
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
            exit(withError: ExitCode(Output.exitCode(0)))
        } catch let code as ExitCode {
            exit(withError: ExitCode(Output.exitCode(code.rawValue)))
        } catch {
            exit(withError: error)
        }
    }
}

extension BackplaneTool {
    /// The process that kills a child of ``Inspect`` or ``Validate`` whose parent has ended.
    struct EndChild: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: ChildEnd.command, shouldDisplay: false)

        @Argument var child: Int32

        func run() { ChildEnd.run(child) }
    }
}
