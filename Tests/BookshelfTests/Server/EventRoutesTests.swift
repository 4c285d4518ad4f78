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
            #expect(await events.next() == "event: loan.created\ndata: \(loan.text)")
            _ = try await server.send("DELETE", "/v2/loans/\(try loan.text("id"))", reader)
            #expect(await events.next() == "event: loan.returned\ndata: \(loan.text)")
        }
    }

    @Test func `every listener receives every event`() async throws {
        let feed = EventFeed()
        var (first, second) = (feed.subscribe().makeAsyncIterator(), feed.subscribe().makeAsyncIterator())
        let loan = Loan(id: "loan-1", book: "walden", due: "2026-01-01T00:00:00Z")
        feed.publish(.lent(loan))
        for event in [ServerEvent.heartbeat, .lent(loan)] {
            #expect(await first.next() == event)
            #expect(await second.next() == event)
        }
    }

    @Test func `of a listener that does not keep up the oldest events are dropped`() async throws {
        let feed = EventFeed()
        var events = feed.subscribe().makeAsyncIterator()
        let loans = (0..<EventFeed.backlog + 10).map {
            Loan(id: "loan-\($0)", book: "walden", due: "2026-01-01T00:00:00Z")
        }
        for loan in loans { feed.publish(.lent(loan)) }
        #expect(await events.next() == .lent(loans[10]))
    }

    @Test func `the heart beats on while the server runs`() async throws {
        let feed = EventFeed()
        var events = feed.subscribe().makeAsyncIterator()
        let heart = Task { try await Heartbeat(events: feed, interval: .milliseconds(1)).run() }
        for _ in 0..<4 { #expect(await events.next() == .heartbeat) }
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
