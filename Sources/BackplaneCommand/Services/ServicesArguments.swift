#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Services: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists what each plugin registers, in which version, and who uses it.",
            discussion: """
                Below that, the wires that nothing is connected to. Starts nothing; exit code 1 when the manifest cannot be read.

                EXAMPLES
                  backplane services manifests/bookshelf-both.json
                  backplane services --json
                  backplane services --running
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @OptionGroup var running: RunningArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            let given = try host.settings(manifest.path, running)
            throw ExitCode(await ServicesCommand(settings: given.settings, running: given.host, json: json).run())
        }
    }
}
#endif
