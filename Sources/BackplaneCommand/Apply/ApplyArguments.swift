#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Apply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Puts a manifest in force in a running host.",
            discussion: """
                What it changes is started, stopped or made anew, everything else goes on; a library that is new in it is loaded, one that is no \
                longer in it is used no more. A manifest with an error changes nothing, and so does one without managers unless --empty is given.

                It is for the host that runs this manifest already, or else for the only one there is.

                EXAMPLES
                  backplane apply
                  backplane apply manifests/almanac.json --environment staging
                """)

        @OptionGroup var argument: ManifestArgument
        @Option(help: ArgumentHelp("The manifest's environment to use (default: the one in force).", valueName: "name"))
        var environment: String?
        @Flag(help: "Stop every manager, which a manifest without any does.") var empty = false
        @Flag(help: "Load new libraries without opening them in a child process first.") var trust = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print what changed as JSON.") var json = false

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
