#if !Engines
import Backplane
import BackplaneHost
import BackplaneTerminal
import Glibc

/// The command line of a build without engines, with the three commands that need no package for argument parsing.
@main
enum PackageFreeTool {
    private static let usage = """
        backplane run [MANIFEST]                           starts every manager, and stays until SIGINT or SIGTERM
        backplane call [MANIFEST] MANAGER METHOD [JSON]    calls one method of one manager, and prints the result
        backplane check [MANIFEST]                         lists everything that is wrong, and starts nothing

          --environment NAME      the manifest's environment to use
          --plugin-path FOLDER    a folder to look for libraries in; may be given again
          --load-folder FOLDER    where libraries are copied to before they are loaded
          --data FOLDER           where data access controllers keep their data

        Every other command comes with the engines, which this build does not have: `swift build` in a checkout of Backplane.
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--help"] { return Output.line(usage) }
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
            return await CheckCommand(settings: settings).run()
        case "call":
            let words = try CallWords(Array(words))
            settings = try settings.taking(words.manifest)
            return await CallCommand(
                settings: settings, manager: words.manager, method: words.method, input: words.input, timeout: 60,
                explains: false
            ).run()
        case let name?: throw Misuse(description: "there is no command `\(name)` in this build")
        case nil: throw Misuse(description: "expected a command")
        }
    }

    /// Returns the options, which may appear anywhere, and the remaining words.
    private static func read(_ arguments: ArraySlice<String>) throws(Misuse) -> (
        HostSettings, words: ArraySlice<String>
    ) {
        var settings = HostSettings(log: Engines.log(.notice)), words: ArraySlice<String> = [], rest = arguments
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                words.append(word)
                continue
            }
            guard ["--environment", "--plugin-path", "--load-folder", "--data"].contains(word) else {
                throw Misuse(description: "`\(word)` is not expected here")
            }
            guard let value = rest.popFirst() else { throw Misuse(description: "\(word) wants a value") }
            switch word {
            case "--environment": settings.environment = value
            case "--plugin-path": settings.pluginPaths.append(value)
            case "--load-folder": settings.loadFolder = value
            default: settings.data = value
            }
        }
        return (settings, words)
    }

    private static func last(of words: ArraySlice<String>) throws(Misuse) -> String? {
        guard words.count < 2 else {
            throw Misuse(description: "`\(words[words.startIndex + 1])` is not expected here")
        }
        return words.first
    }
}
#endif
