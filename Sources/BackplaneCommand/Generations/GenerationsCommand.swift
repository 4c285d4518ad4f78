import BackplaneControl
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

/// `backplane generations`: lists what a running host has in memory of its plugins, and what keeps it there.
struct GenerationsCommand: Sendable {
    /// `nil`: all.
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
