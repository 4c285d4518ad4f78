import BackplaneControl
import BackplaneHost

/// The command `backplane rollback`: rolls a plugin back to an older generation.
struct RollbackCommand: Sendable {
    /// The identifier of the plugin, or the name of its library in the manifest.
    var plugin: String
    /// The number of the generation, or `nil` for the previous one.
    var generation: Int?
    var options: SwapOptions
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        let request = RollbackRequest(plugin: plugin, generation: generation, options: options)
        return host.ask(request, doing: "swapping back", interrupted: SwapCommand.interruption) { report, _ in
            report.value.print(json: json)
        }
    }
}
