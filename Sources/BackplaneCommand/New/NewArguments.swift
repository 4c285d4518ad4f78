#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Create a package, a plugin, contracts, a manager or a program that builds and passes its tests, or a definition.",
            discussion: """
                Prints the files that were written and the commands to enter next. Existing files are never \
                overwritten. If anything fails, nothing is left behind and the exit code is 1. In an existing package, \
                `plugin`, `contracts` and `manager` change no Swift file: they print the lines to paste, and where.

                EXAMPLES
                  backplane new package Tides
                  backplane new manager Weather --dac --service
                  backplane new plugin Ferry --manifest backplane.json
                  backplane new contracts Harbour
                  backplane new app Harbour
                  backplane new definition Pharmacies
                """,
            subcommands: [
                NewPackage.self, NewApp.self, NewPlugin.self, NewContracts.self, NewManager.self, NewDefinition.self,
            ])
    }
}
#endif
