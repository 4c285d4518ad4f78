#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Rollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Swaps a plugin of a running host back to an older generation.",
            discussion: """
                A swap like any other, to code that is in memory still; state is carried back where the older code accepts it.

                EXAMPLES
                  backplane rollback org.backplane.almanac
                  backplane rollback Almanac --to 1
                """)

        @Argument(help: "The plugin's id, or its library as the manifest names it.") var plugin: String
        @Option(
            help: ArgumentHelp("The number of the generation (default: the last one before).", valueName: "generation"))
        var to: Int?
        @OptionGroup var swap: SwapOptionsArguments
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print what happened as JSON.") var json = false

        func run() async throws {
            throw ExitCode(
                RollbackCommand(
                    plugin: plugin, generation: to, options: try swap.options, host: try host.choice, json: json
                ).run())
        }
    }
}
#endif
