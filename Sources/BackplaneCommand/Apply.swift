import ArgumentParser
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Apply: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "apply",
            abstract: "Activate a manifest in a running host.",
            discussion: """
                Components that the manifest changes are started, stopped or recreated with their state, or receive \
                their new configuration if they support that; all others keep running. Added libraries are loaded, \
                and removed libraries are no longer used. If anything fails, nothing has changed and the exit code is \
                1. A manifest with an error is refused, and so is a manifest without managers unless --empty is given. \
                With --dry-run, the plan is printed and nothing is changed.

                Without --socket or --manifest, the manifest is activated in the host that already runs it, or else in \
                the only running host. Without an argument, the manifest of --manifest is activated.

                EXAMPLES
                  backplane apply
                  backplane apply manifests/almanac.json --environment staging --dry-run
                  backplane apply manifests/next.json --manifest manifests/almanac.json
                """)

        @OptionGroup var argument: ManifestArgument
        @Option(
            help: ArgumentHelp("The environment of the manifest to use (default: the active one).", valueName: "name"))
        var environment: String?
        @Flag(help: "Accept a manifest without managers, which stops all of them.") var empty = false
        @OptionGroup var change: NewCodeArguments
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func run() throws {
            var host = try host.choice
            let manifest = try ManifestChoice.taken(argument.path ?? host.manifest)
            if host.socket == nil, host.manifest == nil { (host.manifest, host.takesAnother) = (manifest, true) }
            // The host reads the file itself, and may have another current folder.
            let requested = RequestedManifest(
                FilePath.absolute(manifest), environment: environment, mayBeEmpty: empty)
            let options = try change.options
            let code =
                change.dryRun
                ? host.ask(
                    PreviewRequest(libraries: [], manifest: requested, options: options), doing: "planning the change"
                ) { plan, _ in plan.print(json: json) }
                : host.ask(
                    ApplyRequest(requested, options: options), doing: "activating the manifest",
                    interrupted: "this command ends, but the host continues to activate the manifest"
                ) { report, _ in report.print(json: json) }
            throw ExitCode(code)
        }
    }
}
