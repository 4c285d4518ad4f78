#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists everything that is wrong with a manifest and its plugins; starts nothing.",
            discussion: """
                Libraries are loaded to see what they register. Every line of a problem begins with its place, as compilers print it. \
                Exit code 1 when there is an error. With --lock, and without an error, the versions that were chosen are written into the \
                manifest; a later choice that differs is an error.

                EXAMPLES
                  backplane check
                  backplane check manifests/almanac.json
                  backplane check manifests/almanac.plist --plugin-path .build/debug --strict --json
                  backplane check backplane.json --lock
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @Flag(help: "Print the problems as JSON.") var json = false
        @Flag(help: "Warnings fail too.") var strict = false
        @Flag(help: "Write the versions that were chosen into the manifest.") var lock = false

        func run() async throws {
            throw ExitCode(
                try await CheckCommand(settings: host.settings(manifest.path), json: json, strict: strict, lock: lock)
                    .run())
        }
    }
}
#endif
