#if Engines
import ArgumentParser
import BackplaneDev
import CBackplaneHost

extension BackplaneTool {
    struct Dev: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build a manifest's plugins, run them, and swap in every change you save.",
            discussion: """
                Watches the sources, the manifest and the libraries. Saved changes are built and swapped into the \
                running application, which keeps its state and loses no calls. A change that does not build changes \
                nothing. The plugins are built from the package that contains the manifest.

                Keys in a terminal: \(DevKey.legend).

                EXAMPLES
                  backplane dev
                  backplane dev manifests/almanac.json
                  backplane dev backplane.json --package ../weather-plugin
                  backplane dev --running
                  backplane dev --debug
                  backplane dev --json | jq .event
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @Option(
            name: .customLong("package"), parsing: .singleValue,
            help: ArgumentHelp(
                "Another package whose plugins are built and watched; can be repeated.", valueName: "folder")
        )
        var packages: [String] = []
        @Option(
            help: ArgumentHelp("The build configuration: debug or release.", valueName: "configuration"),
            completion: .list(SwiftPM.configurations), transform: SwiftPM.configuration)
        var configuration = "debug"
        @Option(help: ArgumentHelp("The build folder of all packages (default: .build in each).", valueName: "folder"))
        var scratchPath: String?
        @Option(
            name: .customLong("build-flag"), parsing: .unconditionalSingleValue,
            help: ArgumentHelp("A flag to pass to `swift build`; can be repeated.", valueName: "flag"))
        var flags: [String] = []
        @Flag(
            help:
                "Swap into the host that already runs the manifest, such as your own program, instead of starting one.")
        var running = false
        @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
        var socket: String?
        @OptionGroup var calls: LongCallArguments
        @Flag(help: "Allow a debugger to attach to the application, and show the command for it.") var debug = false
        @Flag(help: "Print one line of JSON for each event.") var json = false

        func run() async throws {
            let swiftPM = SwiftPM(configuration: configuration, scratchPath: scratchPath, flags: flags)
            var settings = try host.settings(try manifest.path).application
            settings.swaps = try calls.options
            settings.isDebugged = debug
            let choice = DevCommand.running(running, socket, settings)
            throw ExitCode(
                await DevCommand(settings: settings, packages: packages, swiftPM: swiftPM, running: choice, json: json)
                    .run())
        }
    }

    /// The process in which ``Dev`` runs the application.
    struct DevChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: HostChild.command, shouldDisplay: false)

        @OptionGroup var host: HostArguments
        @Flag var debug = false
        @OptionGroup var manifest: ManifestArgument

        func run() async throws {
            if debug { bph_admit_debuggers() }
            throw ExitCode(await HostChild.run(try host.settings(manifest.path)))
        }
    }
}
#endif
