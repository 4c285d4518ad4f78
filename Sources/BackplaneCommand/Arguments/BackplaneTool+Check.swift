#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists everything that is wrong with a manifest and its plugins; starts nothing.",
            discussion: """
                Libraries are loaded to see what they register. Every line of a problem begins with its place, as compilers print it. \
                Exit code 1 when there is an error.

                EXAMPLES
                  backplane check
                  backplane check manifests/almanac.json
                  backplane check manifests/almanac.plist --plugin-path .build/debug --strict --json
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @Flag(help: "Print the problems as JSON.") var json = false
        @Flag(help: "Warnings fail too.") var strict = false

        func run() async throws {
            throw ExitCode(try await CheckCommand(settings: host.settings(manifest.path), json: json, strict: strict).run())
        }
    }
}
#endif
