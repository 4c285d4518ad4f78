#if Engines
import ArgumentParser
import BackplaneScaffold

extension BackplaneTool {
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a package, a plugin, a manager or a program, which build and pass their tests at once.",
            discussion: """
                Says what was written and what to enter next. Nothing that is there is overwritten, and where something fails nothing is left \
                behind; exit code is 1 then. In a package that exists, `plugin` and `manager` change no Swift file: they print the lines to paste, \
                and where.

                EXAMPLES
                  backplane new package Tides
                  backplane new manager Weather --dac --service
                  backplane new plugin Ferry --manifest backplane.json
                  backplane new app Harbour
                """,
            subcommands: [NewPackage.self, NewApp.self, NewPlugin.self, NewManager.self])
    }
}
#endif
