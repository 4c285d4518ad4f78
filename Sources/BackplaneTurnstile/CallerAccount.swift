package import YardstickContracts

/// What became of the calls of one caller.
package struct CallerAccount: Sendable {
    package var answered = 0
    package var failed = 0
    /// Calls that were made twice: the caller's own count went up by more than one.
    package var twice = 0
    /// Answered by a library that was not in force while the call was under way.
    package var wrong = 0
    /// Something went backwards: the edition, the running count or the caller's own.
    package var disorder = 0
    /// The last answer; `nil`: there was none.
    package private(set) var last: Ticket?
    /// The longest time between two answers, by the stretches of the run, in milliseconds.
    package private(set) var gaps: [Double]

    package init(windows: Int) { gaps = Array(repeating: 0, count: windows) }

    /// - Parameters:
    ///   - least: how often the state had been handed over when the call began.
    ///   - most: how often it may have been when the answer had come.
    mutating func note(_ ticket: Ticket, least: Int, most: Int) {
        answered += 1
        if ticket.handovers < least || ticket.handovers > most || ticket.edition != 1 + ticket.handovers % 2 { wrong += 1 }
        let own = last?.own ?? 0
        if ticket.own > own + 1 { twice += ticket.own - own - 1 }
        if ticket.own <= own || ticket.count <= last?.count ?? 0 || ticket.handovers < last?.handovers ?? 0 { disorder += 1 }
        last = ticket
    }

    mutating func note(gap: Duration, in window: Int) {
        guard gaps.indices.contains(window) else { return }
        gaps[window] = max(gaps[window], gap / .milliseconds(1))
    }

    /// All that must not have happened.
    package var mistakes: Int { failed + twice + wrong + disorder }
}
