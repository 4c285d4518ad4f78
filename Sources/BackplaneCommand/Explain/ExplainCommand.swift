import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// `backplane explain`: says of one manager which classes were chosen for it and why, or why it cannot be created.
struct ExplainCommand: Sendable {
    var settings: HostSettings
    /// The host to ask; `nil`: none runs, and none is started.
    var running: HostChoice?
    var manager: String
    var json = false

    func run() async -> Int32 {
        if let running {
            return running.ask(ExplainRequest(manager: manager)) { explanation, host in
                report(explanation, in: host.greeting?.manifest ?? "")
                return 0
            }
        }
        let composition = await settings.compose()
        do {
            report(try Explanation(of: manager, in: composition), in: settings.manifest)
            return 0
        } catch {
            return composition.isEmpty ? settings.fail(composition) : Output.fail(error)
        }
    }

    private func report(_ explanation: Explanation, in manifest: String) {
        if json { Output.json(explanation) } else { Output.tree(explanation.tree(in: manifest)) }
    }
}
