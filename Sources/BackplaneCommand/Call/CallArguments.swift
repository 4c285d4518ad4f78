#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Call: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Calls one method of one manager and prints the result as JSON.",
            usage: "backplane call [<options>] [<manifest>] <manager> <method> [<input>]",
            discussion: """
                Starts only what that manager needs. Errors are on standard error, with exit code 1.

                The first word is a manifest if it names a file that is there, has a slash in it, or ends in .json or .plist; otherwise it \
                is the manager, and the manifest is \(ManifestChoice.text).

                EXAMPLES
                  backplane call ClockManager now
                  backplane call manifests/almanac.json ClockManager now
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --explain
                  backplane call manifests/almanac.json AlmanacManager on '"07-20"' --timeout 5
                  backplane call manifests/almanac.json ClockManager echo - < some.json
                  backplane call ClockManager now --running
                """)

        @OptionGroup var host: HostArguments
        @OptionGroup var running: RunningArguments
        @Argument(
            help: ArgumentHelp(
                "A manifest or none, the manager's name in it, the method's name in its contract, the input as JSON (`-`: from standard input; default: null).",
                valueName: "word"))
        var words: [String] = []
        @Option(help: ArgumentHelp("Seconds after which the call is given up.", valueName: "seconds")) var timeout:
            Double = 60
        @Flag(help: "Say on standard error which lane each wire of what was started took, and why.") var explain = false
        @Flag(help: "Explain as JSON.") var json = false

        func validate() throws { _ = try given() }

        private func given() throws -> CallWords {
            try understood { () throws(Misuse) in try CallWords(words) }
        }

        func run() async throws {
            let given = try given()
            let (settings, host) = try self.host.settings(given.manifest, running)
            let command = CallCommand(
                settings: settings, running: host, manager: given.manager, method: given.method, input: given.input,
                timeout: timeout,
                explains: explain, json: json)
            throw ExitCode(await command.run())
        }
    }
}
#endif
