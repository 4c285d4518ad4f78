package import TurnstileContracts

/// The results of a caller's calls.
package struct CallerAccount: Sendable {
    package var answered = 0
    package var failed = 0
    /// The number of calls that were made twice, which increased the caller's own count by more than one.
    package var twice = 0
    /// The number of answers from a library that was not active during the call.
    package var wrong = 0
    /// The number of answers in which the edition, the total count or the caller's own count went backwards.
    package var disorder = 0
    /// The last answer, or `nil` if there was none.
    package private(set) var last: Ticket?
    /// The longest time between two answers in each window of the run, in milliseconds.
    package private(set) var gaps: [Double]

    package init(windows: Int) { gaps = Array(repeating: 0, count: windows) }

    /// Records an answer.
    ///
    /// - Parameters:
    ///   - least: The number of handovers of the state that had ended when the call started.
    ///   - most: The number of handovers that had started when the answer arrived.
    mutating func note(_ ticket: Ticket, least: Int, most: Int) {
        answered += 1
        if ticket.handovers < least || ticket.handovers > most || ticket.edition != 1 + ticket.handovers % 2 {
            wrong += 1
        }
        let own = last?.own ?? 0
        if ticket.own > own + 1 { twice += ticket.own - own - 1 }
        if ticket.own <= own || ticket.count <= last?.count ?? 0 || ticket.handovers < last?.handovers ?? 0 {
            disorder += 1
        }
        last = ticket
    }

    mutating func note(gap: Duration, in window: Int) {
        guard gaps.indices.contains(window) else { return }
        gaps[window] = max(gaps[window], gap / .milliseconds(1))
    }

    /// The number of calls that went wrong in any way.
    package var mistakes: Int { failed + twice + wrong + disorder }
}
