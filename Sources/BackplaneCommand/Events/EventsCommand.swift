import Backplane
import BackplaneControl
import BackplaneReports
import BackplaneTerminal

/// The command `backplane events`: prints the events of a running host as they happen.
struct EventsCommand: Sendable {
    var host: HostChoice
    /// The number of events after which the command ends, or `nil` for no limit.
    var limit: Int?
    var json = false

    func run() -> Int32 {
        if let limit, limit < 1 { return Output.refuse("--limit: expected a number of at least 1, found \(limit)") }
        return host.converse(doing: "listening") { conversation throws(BackplaneError) in
            var failure: BackplaneError?
            _ = try conversation.answer(to: EventsRequest(limit: limit)) { element in
                guard !json else { return Output.line(element) }
                do throws(BackplaneError) {
                    let event = try JSON.decode(HostEventForm.self, Array(element.utf8), failing: .controlProtocol)
                    for line in event.value.lines { Output.line(line) }
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return 0
        }
    }
}
