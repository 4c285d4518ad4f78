#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct NewDefinition: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "definition",
            abstract: "Create the definition of a web service, whose methods are called without code.",
            discussion: """
                The file NAME.json contains example methods to edit; `backplane check` lists its problems.

                EXAMPLES
                  backplane new definition Pharmacies
                  backplane new definition definitions/Pharmacies
                """)

        @Argument(help: "The name, such as Pharmacies, or a path that ends in it.") var name: String
        @Flag(help: "Print the files and the next commands as JSON.") var json = false

        func run() throws { throw ExitCode(NewCommand(subject: .definition(name: name), json: json).run()) }
    }
}
#endif
