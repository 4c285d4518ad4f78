#if !Engines
import BackplaneHost

/// The commands that are for a running host alone.
extension PlainTool {
    /// - Returns: the exit code; `nil`: it is none of them.
    static func runOnHost(_ command: String, _ reader: inout PlainArguments) throws -> Int32? {
        switch command {
        case "swap":
            let options = try reader.swapOptions(), isDry = reader.flag("--dry-run"), json = reader.flag("--json"), host = try reader.hostChoice()
            let libraries = try [reader.next("LIBRARY")] + reader.rest()
            return SwapCommand(libraries: libraries, options: options, host: host, isDry: isDry, json: json).run()
        case "rollback":
            let options = try reader.swapOptions(), generation = try reader.count("--to"), json = reader.flag("--json"), host = try reader.hostChoice()
            let plugin = try reader.next("PLUGIN")
            try reader.finish()
            return RollbackCommand(plugin: plugin, generation: generation, options: options, host: host, json: json).run()
        case "generations":
            let json = reader.flag("--json"), host = try reader.hostChoice(), plugin = reader.nextIfAny()
            try reader.finish()
            return GenerationsCommand(plugin: plugin, host: host, json: json).run()
        case "stats":
            let json = reader.flag("--json"), host = try reader.hostChoice()
            try reader.finish()
            return StatsCommand(host: host, json: json).run()
        case "apply":
            let environment = try reader.text("--environment"), json = reader.flag("--json"), host = try reader.hostChoice()
            let manifest = try ManifestChoice.taken(reader.nextIfAny())
            try reader.finish()
            return ApplyCommand(manifest: manifest, environment: environment, host: host, json: json).run()
        case "reset":
            let json = reader.flag("--json"), host = try reader.hostChoice(), manager = reader.nextIfAny()
            try reader.finish()
            return ResetCommand(manager: manager, host: host, json: json).run()
        default:
            return nil
        }
    }
}
#endif
