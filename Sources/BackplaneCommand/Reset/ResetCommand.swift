import BackplaneControl
import BackplaneHost

/// The command `backplane reset`: recreates one manager of a running host, or all running managers.
struct ResetCommand: Sendable {
    /// The manager to recreate, or `nil` for all running managers.
    var manager: String?
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        host.ask(
            ResetRequest(manager: manager), doing: "recreating it",
            interrupted: "this command ends, and the host continues to recreate it"
        ) { change, _ in
            change.value.print(json: json)
        }
    }
}
