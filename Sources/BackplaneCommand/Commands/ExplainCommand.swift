import Backplane
import BackplaneHost

/// `backplane explain`: says of one manager which classes were chosen for it and why, or why it cannot be created.
struct ExplainCommand: Sendable {
    var settings: HostSettings
    var manager: String
    var json = false

    func run() async -> Int32 {
        let composition = await settings.compose()
        do {
            let explanation = try Explanation(of: manager, in: composition)
            if json { Output.json(explanation) } else { Output.tree(explanation.tree(in: settings.manifest)) }
            return 0
        } catch {
            return composition.isEmpty ? settings.fail(composition) : Output.fail(error)
        }
    }
}
