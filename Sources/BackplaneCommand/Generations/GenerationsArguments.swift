#if Engines
import ArgumentParser

extension BackplaneTool {
    struct Generations: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists what a running host has in memory of its plugins, and what holds it there.",
            discussion: """
                Every swap adds a generation, and none leaves: Swift's runtime cannot forget a library. What they cost is the memory they have \
                written to.

                EXAMPLES
                  backplane generations
                  backplane generations org.backplane.almanac --json
                """)

        @Argument(help: "A plugin's id, or its library as the manifest names it (default: all).") var plugin: String?
        @OptionGroup var host: HostChoiceArguments
        @Flag(help: "Print the list as JSON.") var json = false

        func run() async throws {
            throw ExitCode(GenerationsCommand(plugin: plugin, host: try host.choice, json: json).run())
        }
    }
}
#endif
