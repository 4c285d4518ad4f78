import ArgumentParser
import Backplane
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Validate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "validate",
            abstract: "Check a plugin against the rules of the boundary.",
            discussion: """
                The rules are numbered requirements, which docs/reference/validate.md explains. They are checked in separate \
                processes, so that a crash or a hang is reported as a finding. The plugin's components are created, \
                called with invalid JSON, cancelled and stopped, with none of their wires connected. --manifest \
                supplies their configuration, which is empty without it. The exit code is 1 if the plugin violates a \
                requirement.

                EXAMPLES
                  backplane validate .build/debug/libClock.so
                  backplane validate BooksAPIv2 --manifest manifests/bookshelf.json
                  backplane validate Bookshelf --timeout 30 --json
                """)

        @OptionGroup var arguments: LibraryArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            guard !arguments.library.isEmpty else {
                throw ExitCode(Output.refuse("LIBRARY: expected a path or a name, found nothing"))
            }
            let report: ValidationReport
            do throws(BackplaneError) {
                let folder = try LoadFolder(in: arguments.loadFolder)
                defer { folder.remove() }
                report = await Validation(
                    path: try arguments.path, folder: folder.path, limit: arguments.limit, manifest: arguments.manifest
                )
                .report()
            } catch {
                if json { Output.json(ValidationReport(arguments.library, error)) }
                throw ExitCode(Output.fail(error))
            }
            if json { Output.json(report) } else { report.printTable() }
            throw ExitCode(report.isValid ? 0 : 1)
        }
    }

    /// The child process of ``Validate``.
    struct ValidateChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: ValidationChild.command, shouldDisplay: false)

        @Argument var part: String
        @Argument var rules: String
        @OptionGroup var arguments: LibraryArguments

        func run() async throws {
            guard let part = Rule.Part(rawValue: part) else { throw ValidationError("unknown part") }
            await ValidationChild.run(
                part, rules, arguments.library, loadFolder: arguments.loadFolder, manifest: arguments.manifest)
        }
    }
}
