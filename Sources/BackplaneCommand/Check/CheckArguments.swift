#if Engines
import ArgumentParser
import BackplaneHost

extension BackplaneTool {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists everything that is wrong with a manifest and its plugins; starts nothing.",
            discussion: """
                Libraries are loaded to see what they register, each in a child process first, which shows those that would end this one. Every line of a problem begins with its place, as compilers print it. \
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
        @Flag(help: "Load the libraries without opening them in a child process first.") var trust = false
        @Flag(help: "Write the versions that were chosen into the manifest.") var lock = false

        func run() async throws {
            var settings = try host.settings(manifest.path)
            settings.trials = trust ? .never : .always
            throw ExitCode(
                await CheckCommand(settings: settings, json: json, strict: strict, lock: lock).run())
        }
    }
}
#endif
