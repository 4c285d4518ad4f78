import Backplane
import Synchronization
import TestFixtures
import Testing
import TurnstileContracts

/// Callers who pass a turnstile until they are told to stop, and what was wrong with their tickets.
enum TurnstileVisitors {
    /// What one of them saw.
    struct Visit: Sendable {
        var last: Ticket?
        var mistakes: [String] = []

        fileprivate mutating func note(_ ticket: Ticket) {
            // It is handed over with every swap, and the two editions take turns.
            let isRight = ticket.edition == 1 + ticket.handovers % 2
            let isNext =
                ticket.own == (last?.own ?? 0) + 1 && ticket.count > last?.count ?? 0
                && ticket.handovers >= last?.handovers ?? 0
            if !isRight || !isNext { mistakes.append("\(ticket) after \(last.map { "\($0)" } ?? "nothing")") }
            last = ticket
        }
    }
    private final class Flag: Sendable {
        let isSet = Atomic(false)
        /// The number of visitors that have come to the turnstile.
        let arrived = Atomic(0)
    }

    /// Has four of them pass while `body` runs, which begins once each has passed. They let one another run: two that
    /// never pause would occupy Swift's pool.
    static func with<Value: Sendable>(
        _ turnstile: Remote<TurnstileContracts.Turnstile>, _ body: () async throws -> Value
    ) async throws -> (value: Value, visits: [Visit]) {
        let end = Flag()
        let visitors = (1...4).map { number in
            Task {
                var visit = Visit(), isFirst = true
                while !end.isSet.load(ordering: .relaxed) {
                    do { visit.note(try await turnstile.pass(number)) } catch { visit.mistakes.append("\(error)") }
                    if isFirst { end.arrived.wrappingAdd(1, ordering: .relaxed) }
                    isFirst = false
                    await Task.yield()
                }
                return visit
            }
        }
        await eventually { end.arrived.load(ordering: .relaxed) == visitors.count }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.isSet.store(true, ordering: .relaxed)
        var visits: [Visit] = []
        for visitor in visitors { visits.append(await visitor.value) }
        return (try result.get(), visits)
    }
}
