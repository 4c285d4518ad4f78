#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts every manager, says what is up, and stays until SIGINT or SIGTERM.",
            discussion: """
                Stops in the reverse order of starting. Lists all errors of the manifest and starts nothing while there is one, unless it is \
                to keep going: then exit code 1 means that nothing is up.

                Other commands talk to it through a socket that only you can reach: `swap`, `rollback`, `generations`, `stats`, `apply`, `reset`, \
                and `call`, `explain` and `services` with --running.

                EXAMPLES
                  backplane run manifests/almanac.json
                  backplane run manifests/almanac.json --keep-going
                  backplane run almanac.plist --plugin-path .build/debug --log-level debug
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @Flag(help: "Start what is sound beside what is not, and say what did not start.") var keepGoing = false
        @Flag(help: "Do not listen for other commands.") var noControl = false
        @Flag(help: "Print what is up as JSON.") var json = false

        func run() async throws {
            let command = RunCommand(
                settings: try host.settings(manifest.path), json: json, keepsGoing: keepGoing, isControlled: !noControl)
            throw ExitCode(await command.run())
        }
    }
}
#endif
