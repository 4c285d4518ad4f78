#if !Engines
import Backplane
import BackplaneHost
import Glibc

/// The command line of a build without engines: the same commands and options, read by hand.
@main
enum PlainTool {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) async -> Int32 {
        if arguments.contains("--version") { return printed(HostVersion.text) }
        if arguments.isEmpty || arguments.contains("--help") || arguments.contains("-h") { return printed(PlainUsage.text) }
        var reader = PlainArguments(Array(arguments.dropFirst()))
        do {
            switch arguments[0] {
            case "run":
                let settings = try reader.settings(logLevel: .notice)
                let json = reader.flag("--json")
                try reader.finish()
                return await RunCommand(settings: settings, json: json).run()
            case "call":
                let settings = try reader.settings(logLevel: .notice)
                let timeout = try reader.seconds("--timeout") ?? 60, explains = reader.flag("--explain"), json = reader.flag("--json")
                let manager = try reader.next("MANAGER"), method = try reader.next("METHOD")
                let input = reader.nextIfAny() ?? "null"
                try reader.finish()
                let command = CallCommand(
                    settings: settings, manager: manager, method: method, input: input, timeout: timeout, explains: explains, json: json)
                return await command.run()
            case "check":
                let settings = try reader.settings(logLevel: .notice)
                let json = reader.flag("--json"), strict = reader.flag("--strict")
                try reader.finish()
                return await CheckCommand(settings: settings, json: json, strict: strict).run()
            case "inspect":
                let limit = try inspectionLimit(&reader), loadFolder = try reader.text("--load-folder"), json = reader.flag("--json")
                let library = try reader.next("LIBRARY")
                try reader.finish()
                return await InspectCommand(library: library, loadFolder: loadFolder, limit: .seconds(limit), json: json).run()
            case InspectionChild.command:
                let limit = try inspectionLimit(&reader), loadFolder = try reader.text("--load-folder")
                let library = try reader.next("LIBRARY")
                try reader.finish()
                InspectionChild.run(library, loadFolder: loadFolder, limit: limit)
            case "bench":
                let only = try reader.text("--only"), iterations = try reader.count("--iterations")
                let quick = reader.flag("--quick"), json = reader.flag("--json"), suite = reader.nextIfAny()
                try reader.finish()
                return await BenchCommand(suite: suite, only: only, iterations: iterations, quick: quick, json: json).run()
            case LoadingChild.command:
                let measure = try reader.next("MEASURE"), folder = try reader.next("FOLDER"), loads = try reader.next("LOADS")
                try reader.finish()
                return await LoadingChild.run(measure, in: folder, loads: loads)
            default:
                throw PlainArguments.Unusable(text: "there is no command `\(arguments[0])` in this build")
            }
        } catch {
            Output.remark("backplane: \(error)\n\n\(PlainUsage.text)")
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
