#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Rollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Roll a plugin of a running host back to an older generation.",
            discussion: """
                A rollback is a swap to code that is still in memory. State is carried back if the older code accepts \
                it.

                EXAMPLES
                  backplane rollback org.backplane.almanac
                  backplane rollback Almanac --to 1
                """)

        @Argument(help: "The plugin's id, or the name of its library in the manifest.") var plugin: String
        @Option(
            help: ArgumentHelp("The number of the generation (default: the previous one).", valueName: "generation"))
        var to: Int?
        @OptionGroup var swap: SwapOptionsArguments
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func run() async throws {
            throw ExitCode(
                RollbackCommand(
                    plugin: plugin, generation: to, options: try swap.options, host: try host.choice, json: json
                ).run())
        }
    }
}
#endif
