import BackplaneControl
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

/// The command `backplane generations`: lists the loaded generations in a running host and what retains them.
struct GenerationsCommand: Sendable {
    /// The plugin to list, or `nil` for all.
    var plugin: String?
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        host.ask(GenerationsRequest(plugin: plugin)) { generations, _ in
            if json { Output.json(generations) } else { Output.table(GenerationRows.table(generations.values)) }
            return 0
        }
    }
}
