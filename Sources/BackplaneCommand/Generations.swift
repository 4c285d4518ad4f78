import ArgumentParser
import BackplaneControl
import BackplaneHost
import BackplaneTools

extension BackplaneTool {
    struct Generations: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generations",
            abstract: "List the plugin generations in a running host's memory and what holds them.",
            discussion: """
                Every swap adds a generation, and none is ever unloaded: Swift's runtime cannot unload a library. A \
                generation costs the memory it has written to.

                EXAMPLES
                  backplane generations
                  backplane generations org.backplane.almanac --json
                """)

        @Argument(help: "The plugin's id, or the name of its library in the manifest (default: all plugins).")
        var plugin: String?
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() throws {
            try host.choice.show(GenerationsRequest(plugin: plugin), json: json) {
                Output.table(GenerationRows.table($0))
            }
        }
    }
}
