#if Engines
import ArgumentParser
import Backplane
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
        version: HostVersion.text, subcommands: [Run.self, Call.self, Check.self, Inspect.self, Bench.self, Demo.self, InspectChild.self])
}

/// What every command takes that makes a host.
struct HostArguments: ParsableArguments {
    @Argument(help: "A manifest: JSON, or a property list.")
    var manifest: String

    @Option(name: .customLong("plugin-path"), parsing: .singleValue, help: ArgumentHelp("A folder to look for libraries in; may be given again.", valueName: "folder"))
    var pluginPaths: [String] = []

    @Option(help: ArgumentHelp("Where libraries are copied to before they are loaded (default: $XDG_RUNTIME_DIR, or the temporary folder).", valueName: "folder"))
    var loadFolder: String?

    @Option(help: ArgumentHelp("Where data access controllers keep their data (default: $XDG_STATE_HOME/backplane).", valueName: "folder"))
    var data: String?

    @Option(
        help: ArgumentHelp("What is logged on standard error: this and everything above it (\(LogLevelName.all)).", valueName: "level"),
        completion: .list(LogLevelName.names), transform: LogLevelName.level)
    var logLevel: Log.Level = .notice

    var settings: HostSettings {
        HostSettings(manifest: manifest, pluginPaths: pluginPaths, loadFolder: loadFolder, data: data, log: Engines.log(logLevel))
    }
}

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Starts every manager, says what is up, and stays until SIGINT or SIGTERM.",
        discussion: """
            Stops in the reverse order of starting. Refuses to start while the manifest has an error.

            EXAMPLES
              backplane run manifests/almanac.json
              backplane run almanac.plist --plugin-path .build/debug --log-level debug
            """)

    @OptionGroup var host: HostArguments
    @Flag(help: "Print what is up as JSON.") var json = false

    func run() async throws {
        throw ExitCode(await RunCommand(settings: host.settings, json: json).run())
    }
}

struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Calls one method of one manager and prints the result as JSON.",
        discussion: """
            Starts only what that manager needs. Errors are on standard error, with exit code 1.

            EXAMPLES
              backplane call manifests/almanac.json ClockManager now
              backplane call manifests/almanac.json AlmanacManager on '"07-20"' --explain
              backplane call manifests/almanac.json AlmanacManager on '"07-20"' --timeout 5
              backplane call manifests/almanac.json ClockManager echo - < some.json
            """)

    @OptionGroup var host: HostArguments
    @Argument(help: "The manager's name in the manifest.") var manager: String
    @Argument(help: "The method's name in its contract.") var method: String
    @Argument(help: "The input as JSON; `-` reads it from standard input.") var input: String = "null"
    @Option(help: ArgumentHelp("Seconds after which the call is given up.", valueName: "seconds")) var timeout: Double = 60
    @Flag(help: "Say on standard error which lane each wire of what was started took, and why.") var explain = false
    @Flag(help: "Explain as JSON.") var json = false

    func run() async throws {
        let command = CallCommand(
            settings: host.settings, manager: manager, method: method, input: input, timeout: timeout, explains: explain, json: json)
        throw ExitCode(await command.run())
    }
}

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists everything that is wrong with a manifest and its plugins; starts nothing.",
        discussion: """
            Libraries are loaded to see what they register. Exit code 1 when there is an error.

            EXAMPLES
              backplane check manifests/almanac.json
              backplane check manifests/almanac.plist --plugin-path .build/debug --strict --json
            """)

    @OptionGroup var host: HostArguments
    @Flag(help: "Print the problems as JSON.") var json = false
    @Flag(help: "Warnings fail too.") var strict = false

    func run() async throws {
        throw ExitCode(await CheckCommand(settings: host.settings, json: json, strict: strict).run())
    }
}

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the example application against a server of its own.",
        discussion: """
            Starts bookshelf-server on a free loopback port, runs manifests/bookshelf.json against it, searches, borrows a book, \
            stops the server and searches again. Leaves nothing behind.

            EXAMPLES
              backplane demo
            """)

    func run() async throws {
        throw ExitCode(await DemoCommand().run())
    }
}
#endif
