#if Engines
@testable import BookshelfServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct EventRoutesTests {
    @Test func `a stream begins with a heartbeat and continues with every loan`() async throws {
        try await RunningServer.run { server in
            var events = try EventListener.events(of: server).makeAsyncIterator()
            #expect(await events.next() == "event: heartbeat\ndata: {}")

            let reader = try await server.signIn()
            let loan = try await server.send("POST", "/v2/loans", reader, body: #"{"book": "walden"}"#)
            let lent = try #require(await events.next())
            let id = try #require(lent.firstMatch(of: /^id: ([a-z0-9]+-1)\n/)?.output.1)
            #expect(lent == "id: \(id)\nevent: loan.created\ndata: \(loan.text)")
            _ = try await server.send("DELETE", "/v2/loans/\(try loan.text("id"))", reader)
            let returned = "id: \(id.dropLast())2\nevent: loan.returned\ndata: \(loan.text)"
            #expect(await events.next() == returned)

            var later = try EventListener.events(of: server, after: String(id)).makeAsyncIterator()
            #expect(await later.next() == "event: heartbeat\ndata: {}")
            #expect(await later.next() == returned)
            var lost = try EventListener.events(of: server, after: "elsewhere-1").makeAsyncIterator()
            #expect(await lost.next() == "event: heartbeat\ndata: {}")
            #expect(await lost.next() == "event: missed\ndata: {}")
        }
    }

    @Test func `who comes back is sent what came after its last event, as far as it is kept`() async throws {
        let feed = EventFeed()
        var first = feed.subscribe().makeAsyncIterator()
        #expect(await first.next()?.event == .heartbeat)
        func loan(_ number: Int) -> Loan { Loan(id: "loan-\(number)", book: "walden", due: "2026-01-01T00:00:00Z") }
        feed.publish(.lent(loan(0)))
        let id = try #require(await first.next()?.id)
        func replayed(_ number: Int) async -> [ServerEvent] {
            let count = 1 + number
            var events = feed.subscribe(after: id).makeAsyncIterator(), found: [ServerEvent] = []
            while found.count < count, let event = await events.next() {
                found.append(event.event)
                if event.event == .missed { break }
            }
            return found
        }
        #expect(await replayed(0) == [.heartbeat])
        feed.publish(.heartbeat)
        for number in 1...EventFeed.historyLimit { feed.publish(.lent(loan(number))) }
        #expect(
            await replayed(EventFeed.historyLimit) == [.heartbeat]
                + (1...EventFeed.historyLimit).map { .lent(loan($0)) })
        feed.publish(.returned(loan(0)))
        #expect(await replayed(1) == [.heartbeat, .missed])
        for wrong in ["", "-", "-1", id + "0000000", String(id.dropLast()) + "-5", "x" + id] {
            var events = feed.subscribe(after: wrong).makeAsyncIterator()
            #expect(await events.next()?.event == .heartbeat)
            #expect(await events.next()?.event == .missed, "\(wrong)")
        }
    }

    @Test func `every listener receives every event`() async throws {
        let feed = EventFeed()
        var (first, second) = (feed.subscribe().makeAsyncIterator(), feed.subscribe().makeAsyncIterator())
        let loan = Loan(id: "loan-1", book: "walden", due: "2026-01-01T00:00:00Z")
        feed.publish(.lent(loan))
        for event in [ServerEvent.heartbeat, .lent(loan)] {
            #expect(await first.next()?.event == event)
            #expect(await second.next()?.event == event)
        }
    }

    @Test func `of a listener that does not keep up the oldest events are dropped`() async throws {
        let feed = EventFeed()
        var events = feed.subscribe().makeAsyncIterator()
        let loans = (0..<EventFeed.backlog + 10).map {
            Loan(id: "loan-\($0)", book: "walden", due: "2026-01-01T00:00:00Z")
        }
        for loan in loans { feed.publish(.lent(loan)) }
        #expect(await events.next()?.event == .lent(loans[10]))
    }

    @Test func `the heart beats on while the server runs`() async throws {
        let feed = EventFeed()
        var events = feed.subscribe().makeAsyncIterator()
        let heart = Task { try await Heartbeat(events: feed, interval: .milliseconds(1)).run() }
        for _ in 0..<4 { #expect(await events.next()?.event == .heartbeat) }
        heart.cancel()
        try await heart.value
    }

    @Test func `HEAD of the stream ends at once`() async throws {
        try await RunningServer.run { server in
            let answer = try await server.send("HEAD", "/v2/events")
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "text/event-stream")
        }
    }
}
#endif
