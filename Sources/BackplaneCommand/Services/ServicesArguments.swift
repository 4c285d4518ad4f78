#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Services: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the classes that each plugin registers, with their versions and users.",
            discussion: """
                Unconnected wires are listed at the end. Nothing is started. The exit code is 1 if the manifest \
                cannot be read.

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
