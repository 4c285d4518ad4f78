#if Engines
import ArgumentParser
import BackplaneHost

extension BackplaneTool {
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a manifest and its plugins, or a definition, and list every problem.",
            discussion: """
                Loads the libraries to see what they register, but starts no component. Each library is first tried \
                in a child process, so that a crash is reported as a problem. Each problem begins with its location, \
                in the format that compilers use; those that follow from another one are only counted. The exit code \
                is 1 if there is an error. If there is none, --lock writes the chosen versions into the manifest; \
                from then on, a different choice is an error. The definition of a web service, a file such as \
                NCWebService+NAME.plist, is checked by itself.

                EXAMPLES
                  backplane check
                  backplane check manifests/almanac.json
                  backplane check manifests/almanac.plist --plugin-path .build/debug --strict --json
                  backplane check backplane.json --lock
                  backplane check definitions/NCWebService+Pharmacies.plist
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Flag(help: "Print the problems as JSON.") var json = false
        @Flag(help: "Treat warnings as errors.") var strict = false
        @Flag(help: "Also list problems that follow from others.") var all = false
        @Flag(help: "Load the libraries without trying them in a child process first.") var trust = false
        @Flag(help: "Write the chosen versions into the manifest.") var lock = false

        func run() async throws {
            var settings = try host.settings(try manifest.path)
            settings.trials = trust ? .never : .always
            throw ExitCode(
                await CheckCommand(settings: settings, json: json, strict: strict, all: all, lock: lock).run())
        }
    }
}
#endif
