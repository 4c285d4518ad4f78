#if Engines
import ArgumentParser
import BackplaneDev

extension BackplaneTool {
    struct Dev: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Builds the manifest's plugins, runs them, and swaps what you save.",
            discussion: """
                Watches the sources, the manifest and the libraries. What is saved is built, and put in force in the running application, which \
                keeps its state and loses no call; what does not build changes nothing. The package is the one around the manifest.

                Keys at a terminal: \(DevKey.legend).

                EXAMPLES
                  backplane dev
                  backplane dev manifests/almanac.json
                  backplane dev backplane.json --package ../weather-plugin
                  backplane dev --running
                  backplane dev --json | jq .event
                """)

        @OptionGroup var manifest: ManifestArgument
        @OptionGroup var host: HostArguments
        @Option(
            name: .customLong("package"), parsing: .singleValue,
            help: ArgumentHelp(
                "A package elsewhere whose plugins are built and watched too; may be given again.", valueName: "folder")
        )
        var packages: [String] = []
        @Option(
            help: ArgumentHelp("What is built: debug or release.", valueName: "configuration"),
            completion: .list(SwiftPM.configurations), transform: SwiftPM.configuration)
        var configuration = "debug"
        @Option(help: ArgumentHelp("Where all packages are built (default: the .build of each).", valueName: "folder"))
        var scratchPath: String?
        @Option(
            name: .customLong("build-flag"), parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Passed on to `swift build`; may be given again.", valueName: "flag"))
        var flags: [String] = []
        @Flag(help: "Swap into the host that runs the manifest, such as a program of your own, and start none.")
        var running = false
        @Option(help: ArgumentHelp("The running host to swap into, by the path of its socket.", valueName: "path"))
        var socket: String?
        @Flag(help: "Print a line of JSON for each event.") var json = false

        func run() async throws {
            let swiftPM = SwiftPM(configuration: configuration, scratchPath: scratchPath, flags: flags)
            let settings = try host.settings(manifest.path).application,
                choice = DevCommand.running(running, socket, settings)
            throw ExitCode(
                await DevCommand(settings: settings, packages: packages, swiftPM: swiftPM, running: choice, json: json)
                    .run())
        }
    }

    /// The process in which ``Dev`` runs the application.
    struct DevChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: HostChild.command, shouldDisplay: false)

        @OptionGroup var host: HostArguments
        @OptionGroup var manifest: ManifestArgument

        func run() async throws {
            throw ExitCode(await HostChild.run(try host.settings(manifest.path)))
        }
    }
}
#endif
