import ArgumentParser
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Apply: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Activate a manifest in a running host.",
            discussion: """
                Components that the manifest changes are started, stopped or recreated, or receive their new \
                configuration if they support that; all others keep running. If the change would end a stateful \
                component, the manifest is activated as if by `backplane swap --apply`, which carries the state over \
                or changes nothing. Libraries that it adds are loaded; those that it removes are no longer used. A \
                manifest with an error changes nothing, and neither does one without managers unless --empty is given.

                Without --socket or --manifest, the manifest is activated in the host that already runs it, or else in \
                the only running host. Without an argument, that of --manifest is activated.

                EXAMPLES
                  backplane apply
                  backplane apply manifests/almanac.json --environment staging
                  backplane apply manifests/next.json --manifest manifests/almanac.json
                """)

        @OptionGroup var argument: ManifestArgument
        @Option(
            help: ArgumentHelp("The environment of the manifest to use (default: the active one).", valueName: "name"))
        var environment: String?
        @Flag(help: "Accept a manifest without managers, which stops all of them.") var empty = false
        @Flag(help: "Load new libraries without trying them in a child process first.") var trust = false
        @Flag(help: "Continue if callers use methods that the new code lacks; such calls then fail.")
        var allowMissing = false
        @Flag(help: "Continue if state cannot be carried over; it is then lost.") var discardState = false
        @Flag(help: "Carry state over as JSON, even where the Swift value itself could be handed over.")
        var encodedState = false
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the changes as JSON.") var json = false

        func run() throws {
            var host = try host.choice
            let manifest = try ManifestChoice.taken(argument.path ?? host.manifest)
            if host.socket == nil, host.manifest == nil { (host.manifest, host.takesAnother) = (manifest, true) }
            let code = host.ask(
                request(for: manifest), doing: "activating the manifest",
                interrupted: "this command ends, but the host continues to activate the manifest"
            ) { change, _ in
                change.print(json: json)
            }
            throw ExitCode(code)
        }

        func request(for manifest: String) -> ApplyRequest {
            // The host reads the file itself, and its current folder may be another one.
            var request = ApplyRequest(
                RequestedManifest(FilePath.absolute(manifest), environment: environment, mayBeEmpty: empty))
            (request.trustsLibraries, request.allowsMissingMethods) = (trust, allowMissing)
            (request.discardsState, request.encodesState) = (discardState, encodedState)
            return request
        }
    }
}

extension ManagerChanges {
    /// Prints the change and returns the exit code.
    func print(json: Bool) -> Int32 {
        if json { Output.json(self) } else { for line in lines { Output.line(line) } }
        return 0
    }
}
