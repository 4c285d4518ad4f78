#if Engines
import ArgumentParser
import BackplaneHost

@main
struct BackplaneTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backplane", abstract: "Runs applications that are composed of plugins by a manifest.",
        discussion: """
            EXAMPLES
              backplane check manifests/almanac.json
              backplane call manifests/almanac.json AlmanacManager on '"07-20"'
              backplane run manifests/almanac.json
              backplane inspect .build/debug/libClock.so
              backplane bench boundary
              backplane demo
            """,
        version: HostVersion.text, subcommands: [Run.self, Call.self, Check.self, Inspect.self, Bench.self, Demo.self, InspectChild.self, BenchChild.self])
}
#endif
