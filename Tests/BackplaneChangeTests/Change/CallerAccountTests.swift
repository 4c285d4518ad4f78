import Testing
import TurnstileContracts

@testable import BackplaneTools

/// What callers make of the answers that they get under swaps: each kind of mistake is found.
struct CallerAccountTests {
    private func account(_ tickets: [Ticket], least: Int = 0, most: Int = 9) -> CallerAccount {
        var account = CallerAccount(windows: 0)
        for ticket in tickets { account.note(ticket, least: least, most: most) }
        return account
    }

    private func ticket(_ own: Int, count: Int? = nil, handovers: Int = 0, edition: Int? = nil) -> Ticket {
        Ticket(edition: edition ?? 1 + handovers % 2, handovers: handovers, count: count ?? own, own: own)
    }

    @Test func `tickets in order, under swaps, are no mistake`() {
        let sound = account([
            ticket(1), ticket(2, count: 5), ticket(3, count: 9, handovers: 1), ticket(4, count: 10, handovers: 4),
        ])
        #expect(sound.mistakes == 0 && sound.answered == 4)
    }

    @Test func `a call that was made twice is found by the caller's own count`() {
        #expect(account([ticket(1), ticket(4)]).twice == 2)
        #expect(account([ticket(2)]).twice == 1)
    }

    @Test func `inactive code is detected by the handovers or by the edition`() {
        #expect(
            account([ticket(1, handovers: 1)], least: 2).wrong == 1,
            "the state had been handed over before the call began")
        #expect(account([ticket(1, handovers: 3)], most: 2).wrong == 1, "and had not when the answer came")
        #expect(account([ticket(1, handovers: 1, edition: 1)]).wrong == 1)
    }

    @Test func `what goes backwards is found`() {
        #expect(account([ticket(2), ticket(2, count: 3)]).disorder == 1)
        #expect(account([ticket(1, count: 3), ticket(2, count: 3)]).disorder == 1)
        #expect(account([ticket(1, handovers: 2), ticket(2, handovers: 1)]).disorder == 1)
    }
}
