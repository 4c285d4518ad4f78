#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start every manager of a manifest, and run until SIGINT or SIGTERM.",
            discussion: """
                Prints what was started. If the manifest has errors, all of them are listed and nothing is started, \
                unless --keep-going is given: then exit code 1 means that nothing could be started. Components are \
                stopped in the reverse order of their start.

                Other commands control the host through a socket that only your user can access: `swap`, `rollback`, \
                `generations`, `stats`, `log-level`, `apply` and `reset`, and, with --running, `call`, `explain` and \
                `services`.

                EXAMPLES
                  backplane run manifests/almanac.json
                  backplane run manifests/almanac.json --keep-going
                  backplane run almanac.plist --plugin-path .build/debug --log-level debug
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Flag(help: "Start everything that has no errors, and report what did not start.") var keepGoing = false
        @Option(
            help: ArgumentHelp(
                "The path of the control socket (default: one that other commands find automatically).",
                valueName: "path"))
        var socket: String?
        @Flag(help: "Do not open a control socket.") var noControl = false
        @Flag(help: "Print what was started as JSON.") var json = false

        func validate() throws {
            guard noControl, socket != nil else { return }
            throw ValidationError("--no-control and --socket contradict each other; use only one of them")
        }

        func run() async throws {
            let command = RunCommand(
                settings: try host.settings(try manifest.path), json: json, keepsGoing: keepGoing,
                isControlled: !noControl,
                socket: socket)
            throw ExitCode(await command.run())
        }
    }
}
#endif
