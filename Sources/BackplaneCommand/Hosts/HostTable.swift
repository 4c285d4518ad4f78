import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// The table of running hosts.
enum HostTable {
    static func table(_ hosts: [RunningHost]) -> Table {
        Table(
            ["PROCESS", "MANIFEST", "SOCKET"],
            hosts.map { host in
                let manifest: Span =
                    if let problem = host.problem { Span(problem.message.printable, .bad) } else {
                        Span(host.greeting?.manifest?.printable ?? "composed in Swift")
                    }
                return [Span(host.greeting.map { "\($0.process)" } ?? "-"), manifest, Span(host.socket.printable)]
            })
    }
}
