#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Starts every manager, says what is up, and stays until SIGINT or SIGTERM.",
            discussion: """
                Stops in the reverse order of starting. Refuses to start while the manifest has an error.

                EXAMPLES
                  backplane run manifests/almanac.json
                  backplane run almanac.plist --plugin-path .build/debug --log-level debug
                """)

        @OptionGroup var host: HostArguments
        @Flag(help: "Print what is up as JSON.") var json = false

        func run() async throws {
            throw ExitCode(await RunCommand(settings: host.settings, json: json).run())
        }
    }
}
#endif
