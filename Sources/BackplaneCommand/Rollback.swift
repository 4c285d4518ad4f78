import ArgumentParser
import BackplaneControl
import BackplaneHost

extension BackplaneTool {
    struct Rollback: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rollback",
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
        @OptionGroup var swap: ChangeOptionsArguments
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the report as JSON.") var json = false

        func run() throws {
            let request = RollbackRequest(plugin: plugin, generation: to, options: try swap.options)
            let code = try host.choice.ask(request, doing: "swapping back", interrupted: Swap.interruption) {
                report, _ in
                report.print(json: json)
            }
            throw ExitCode(code)
        }
    }
}
