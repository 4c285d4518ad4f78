#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Activate a manifest in a running host.",
            discussion: """
                Components that the manifest changes are started, stopped or recreated; all others keep running. \
                Libraries that it adds are loaded; those that it removes are no longer used. A manifest with an error \
                changes nothing, and neither does one without managers unless --empty is given.

                Without --socket or --manifest, the manifest is activated in the host that already runs it, or else in \
                the only running host.

                EXAMPLES
                  backplane apply
                  backplane apply manifests/almanac.json --environment staging
                """)

        @OptionGroup var argument: ManifestArgument
        @Option(
            help: ArgumentHelp("The environment of the manifest to use (default: the active one).", valueName: "name"))
        var environment: String?
        @Flag(help: "Stop every manager, which a manifest without any does.") var empty = false
        @Flag(help: "Load new libraries without opening them in a child process first.") var trust = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the changes as JSON.") var json = false

        func run() async throws {
            let manifest: String
            do { manifest = try ManifestChoice.taken(argument.path) } catch { throw ValidationError(error.description) }
            throw ExitCode(
                ApplyCommand(
                    manifest: manifest, environment: environment, host: try host.choice, allowsEmpty: empty,
                    trustsLibraries: trust, json: json
                ).run())
        }
    }
}
#endif
