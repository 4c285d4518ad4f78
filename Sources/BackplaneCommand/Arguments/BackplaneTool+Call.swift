#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Call: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Calls one method of one manager and prints the result as JSON.",
            discussion: """
                Starts only what that manager needs. Errors are on standard error, with exit code 1.

                EXAMPLES
                  backplane call manifests/almanac.json ClockManager now
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --explain
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --timeout 5
                  backplane call manifests/almanac.json ClockManager echo - < some.json
                """)

        @OptionGroup var host: HostArguments
        @Argument(help: "The manager's name in the manifest.") var manager: String
        @Argument(help: "The method's name in its contract.") var method: String
        @Argument(help: "The input as JSON; `-` reads it from standard input.") var input: String = "null"
        @Option(help: ArgumentHelp("Seconds after which the call is given up.", valueName: "seconds")) var timeout: Double = 60
        @Flag(help: "Say on standard error which lane each wire of what was started took, and why.") var explain = false
        @Flag(help: "Explain as JSON.") var json = false

        func run() async throws {
            let command = CallCommand(
                settings: host.settings, manager: manager, method: method, input: input, timeout: timeout, explains: explain, json: json)
            throw ExitCode(await command.run())
        }
    }
}
#endif
