#if !Engines
import Backplane
import BackplaneBench
import BackplaneDev
import BackplaneHost
import BackplaneTerminal
import BackplaneValidate
import Glibc

/// The command line of a build without engines: the same commands and options, read by hand.
@main
enum PlainTool {
    static func main() async {
        exit(Output.exitCode(await run(Array(CommandLine.arguments.dropFirst()))))
    }

    private static func run(_ arguments: [String]) async -> Int32 {
        // What stands after two dashes is a word, whatever it looks like.
        let options = arguments.prefix { $0 != "--" }
        if options.contains("--version") { return printed(HostVersion.text) }
        if arguments.isEmpty || options.contains("--help") || options.contains("-h") { return printed(PlainUsage.text) }
        var reader = PlainArguments(Array(arguments.dropFirst()))
        do {
            switch arguments[0] {
            case "run":
                let json = reader.flag("--json"), keepsGoing = reader.flag("--keep-going"), isControlled = !reader.flag("--no-control")
                let settings = try reader.settings()
                try reader.finish()
                return await RunCommand(settings: settings, json: json, keepsGoing: keepsGoing, isControlled: isControlled).run()
            case "dev":
                let packages = try reader.texts("--package"), json = reader.flag("--json"), swiftPM = try reader.swiftPM()
                let running = reader.flag("--running"), socket = try reader.text("--socket"), settings = try reader.settings()
                try reader.finish()
                let application = settings.application, choice = DevCommand.running(running, socket, application)
                return await DevCommand(settings: application, packages: packages, swiftPM: swiftPM, running: choice, json: json).run()
            case HostChild.command:
                let settings = try reader.settings()
                try reader.finish()
                return await HostChild.run(settings)
            case "call":
                let timeout = try reader.seconds("--timeout") ?? 60, explains = reader.flag("--explain"), json = reader.flag("--json")
                let (settings, host, words) = try reader.settingsOrHost { reader in
                    let words = try CallWords(reader.rest())
                    return (words.manifest, words)
                }
                let command = CallCommand(
                    settings: settings, running: host, manager: words.manager, method: words.method, input: words.input, timeout: timeout, explains: explains,
                    json: json)
                return await command.run()
            case "explain":
                let json = reader.flag("--json")
                let (settings, host, words) = try reader.settingsOrHost { reader in
                    let words = try ExplainWords(reader.rest())
                    return (words.manifest, words)
                }
                return await ExplainCommand(settings: settings, running: host, manager: words.manager, json: json).run()
            case "graph":
                let format = try reader.format(), settings = try reader.settings()
                try reader.finish()
                return await GraphCommand(settings: settings, format: format).run()
            case "services":
                let json = reader.flag("--json"), (settings, host, _) = try reader.settingsOrHost { reader in (reader.nextIfAny(), ()) }
                try reader.finish()
                return await ServicesCommand(settings: settings, running: host, json: json).run()
            case "names":
                let json = reader.flag("--json"), settings = try reader.settings()
                try reader.finish()
                return await NamesCommand(settings: settings, json: json).run()
            case "check":
                let json = reader.flag("--json"), strict = reader.flag("--strict"), lock = reader.flag("--lock"), settings = try reader.settings()
                try reader.finish()
                return await CheckCommand(settings: settings, json: json, strict: strict, lock: lock).run()
            case "convert":
                let format = try reader.format("--to"), output = try reader.text("--output")
                let force = reader.flag("--force"), upgrade = reader.flag("--upgrade"), manifest = try ManifestChoice.taken(reader.nextIfAny())
                try reader.finish()
                return ConvertCommand(manifest: manifest, format: format, output: output, force: force, upgrade: upgrade).run()
            case "inspect":
                let limit = try inspectionLimit(&reader), loadFolder = try reader.text("--load-folder"), json = reader.flag("--json")
                let library = try reader.next("LIBRARY")
                try reader.finish()
                return await InspectCommand(library: library, loadFolder: loadFolder, limit: .seconds(limit), json: json).run()
            case "validate":
                let limit = try inspectionLimit(&reader), loadFolder = try reader.text("--load-folder"), json = reader.flag("--json")
                let library = try reader.next("LIBRARY")
                try reader.finish()
                return await ValidateCommand(library: library, loadFolder: loadFolder, limit: .seconds(limit), json: json).run()
            case ValidationChild.command:
                let loadFolder = try reader.text("--load-folder")
                guard let trial = Trial(rawValue: try reader.next("TRIAL")) else { throw PlainArguments.Unusable(text: "there is no such trial") }
                let library = try reader.next("LIBRARY")
                try reader.finish()
                await ValidationChild.run(trial, library, loadFolder: loadFolder)
            case InspectionChild.command:
                let loadFolder = try reader.text("--load-folder"), library = try reader.next("LIBRARY")
                try reader.finish()
                InspectionChild.run(library, loadFolder: loadFolder)
            case "new":
                return try makeNew(&reader)
            case "bench":
                let only = try reader.text("--only"), iterations = try reader.count("--iterations")
                let quick = reader.flag("--quick"), json = reader.flag("--json"), suite = reader.nextIfAny()
                try reader.finish()
                return await BenchCommand(suite: suite, only: only, iterations: iterations, quick: quick, json: json, digest: Engines.digest).run()
            case MeasuringChild.command:
                let measure = try reader.next("MEASURE"), folder = try reader.next("FOLDER"), loads = try reader.next("LOADS")
                try reader.finish()
                return await MeasuringChild.run(measure, in: folder, loads: loads, digest: Engines.digest)
            default:
                if let code = try runOnHost(arguments[0], &reader) { return code }
                throw PlainArguments.Unusable(text: "there is no command `\(arguments[0])` in this build")
            }
        } catch {
            Output.remark("backplane: \("\(error)".printable)\n\n\(PlainUsage.text)")
            return EX_USAGE
        }
    }

    private static func inspectionLimit(_ reader: inout PlainArguments) throws(PlainArguments.Unusable) -> Double {
        let limit = try reader.seconds("--timeout") ?? InspectCommand.defaultLimit
        guard InspectCommand.limits.contains(limit) else { throw .init(text: "--timeout: \(InspectCommand.limitsText), found \(limit)") }
        return limit
    }

    private static func printed(_ text: String) -> Int32 {
        Output.line(text)
        return 0
    }
}
#endif
