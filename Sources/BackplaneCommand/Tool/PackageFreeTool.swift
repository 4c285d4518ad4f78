#if !Engines
import Backplane
import BackplaneHost
import BackplaneReports
import BackplaneTerminal
import Glibc

/// The command line of a build without engines, with the three commands that need no package for argument parsing.
@main
enum PackageFreeTool {
    private static let usage = """
        backplane run [MANIFEST]                           start every manager, and run until SIGINT or SIGTERM
        backplane call [MANIFEST] MANAGER [METHOD [JSON]]  call one method of a manager, or list all of them
        backplane check [MANIFEST]                         list every problem, and start nothing

          --environment NAME      the environment of the manifest to use
          --plugin-path FOLDER    a folder to search for libraries; can be repeated
          --load-folder FOLDER    the folder libraries are copied to before they are loaded
          --data FOLDER           the folder where data access controllers keep their data
          --log-level LEVEL       the lowest level to log, or NAME=LEVEL for one component or plugin; can be repeated
          --log-format FORMAT     the format of the log: text or json

        All other commands need the engines, which this build lacks. To get them, run `swift build` in a checkout of Backplane.
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.contains("--help") || arguments.contains("-h") { return Output.line(usage) }
        do throws(BackplaneError) { try ProcessNeeds.require() } catch { exit(Output.fail(error)) }
        do {
            exit(Output.exitCode(try await run(arguments)))
        } catch {
            Output.remark("backplane: \("\(error)".printable)\n\n\(usage)")
            exit(EX_USAGE)
        }
    }

    private static func run(_ arguments: [String]) async throws -> Int32 {
        var (settings, words) = try read(arguments[...])
        switch words.popFirst() {
        case "run":
            settings = try settings.taking(last(of: words))
            return await RunCommand(settings: settings).run()
        case "check":
            settings = try settings.taking(last(of: words))
            settings.trials = .always
            return await CheckCommand(settings: settings).run()
        case "call":
            let words = try CallWords(Array(words))
            settings = try settings.taking(words.manifest)
            return await CallCommand(
                settings: settings, manager: words.manager, method: words.method, input: CallInput(text: words.input),
                timeout: 60,
                explains: false
            ).run()
        case let name?: throw Misuse(description: "this build has no command `\(name)`")
        case nil: throw Misuse(description: "expected a command")
        }
    }

    /// Returns the options, which may appear anywhere, and the remaining words.
    private static func read(_ arguments: ArraySlice<String>) throws(Misuse) -> (
        HostSettings, words: ArraySlice<String>
    ) {
        var settings = HostSettings(log: LogSettings()), words: ArraySlice<String> = [], rest = arguments
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                words.append(word)
                continue
            }
            guard
                ["--environment", "--plugin-path", "--load-folder", "--data", "--log-level", "--log-format"].contains(
                    word)
            else {
                throw Misuse(description: "unexpected option `\(word)`")
            }
            guard let value = rest.popFirst() else { throw Misuse(description: "\(word) requires a value") }
            switch word {
            case "--environment": settings.environment = value
            case "--plugin-path": settings.pluginPaths.append(value)
            case "--load-folder": settings.loadFolder = value
            case "--log-level":
                do { settings.log = settings.log?.taking(try LogLevelWord(value)) } catch {
                    throw Misuse(description: "--log-level: \(error)")
                }
            case "--log-format":
                guard let format = LogFormat(rawValue: value) else {
                    throw Misuse(description: "--log-format: expected \(LogFormat.names), found `\(value)`")
                }
                settings.log?.format = format
            default: settings.data = value
            }
        }
        return (settings, words)
    }

    private static func last(of words: ArraySlice<String>) throws(Misuse) -> String? {
        guard words.count < 2 else {
            throw Misuse(description: "unexpected argument `\(words[words.startIndex + 1])`")
        }
        return words.first
    }
}
#endif
