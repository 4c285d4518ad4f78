import BackplaneControl
import BackplaneHost

/// `backplane reset`: makes a manager of a running host anew, or everything that is up.
struct ResetCommand: Sendable {
    /// `nil`: everything.
    var manager: String?
    var host: HostChoice
    var json = false

    func run() -> Int32 {
        host.ask(ResetRequest(manager: manager), doing: "making it anew", interrupted: "this command ends, and the host goes on making it anew") { change, _ in
            change.value.print(json: json)
        }
    }
}
