import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// The command `backplane explain`: reports which classes a manager uses and why, or why it cannot be created.
struct ExplainCommand: Sendable {
    var settings: HostSettings
    /// The running host to use, or `nil` to compose the manifest without starting anything.
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
