import BackplaneControl
import BackplaneHost

/// `backplane rollback`: swaps back to an older generation of a plugin.
struct RollbackCommand: Sendable {
    /// Its id, or its library as the manifest names it.
    var plugin: String
    /// `nil`: the last one before.
    var generation: Int?
    var options: SwapOptions
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        let request = RollbackRequest(plugin: plugin, generation: generation, options: options)
        return host.ask(request, doing: "swapping back", interrupted: SwapCommand.interruption) { report, _ in report.value.print(json: json) }
    }
}
