import Backplane
import Foundation
import Glibc

/// Sessions of browsers, which receive the changes of their windows and press buttons.
///
/// One thread of this process serves all sessions.
enum ScreenLoad {
    static let sessions = 200
    /// The time between two presses.
    private static let period = Duration.milliseconds(10)
    /// The number of sessions after which the memory of further ones is measured.
    private static let first = 20
    /// The number of changes of the long list, of which the largest message is measured.
    private static let changes = 20

    /// Measures a number of presses.
    ///
    /// - Returns: The bytes of a change of a long list, the 99th percentile of the times in milliseconds, and the
    ///   memory of a session in units of 1,024 bytes.
    static func figures(ofPresses count: Int, _ ports: ScreenServer.Ports) async throws -> [Figure] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try figures(ofPresses: count, to: ports) }) }
        }
    }

    private static func figures(ofPresses count: Int, to ports: ScreenServer.Ports) throws -> [Figure] {
        var control = try LoadedConnection(ports.control), all: [ScreenSession] = [], long: [ScreenSession] = []
        defer {
            control.close()
            for session in all + long { session.close() }
        }
        func session(_ number: Int, row: Int, at path: String = "/") throws -> ScreenSession {
            let address = try control.exchange("GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n").body
            return try ScreenSession(number, row: row, at: path, signingInAt: address, to: ports.screens)
        }
        func open(_ number: Int) throws {
            while all.count < number { all.append(try session(all.count, row: all.count % ScreenServer.rows)) }
        }
        func memory() throws -> Double {
            Double(try control.exchange("GET /memory HTTP/1.1\r\nHost: localhost\r\n\r\n").body) ?? .nan
        }
        try open(first)
        let before = try memory()
        try open(sessions)
        let after = try memory()
        let times = try press(count, in: &all).times
        let path = "/screens/books?input=%7B%22rows%22%3A1000%7D"
        long.append(try session(sessions, row: 999, at: path))
        let sizes = try (0..<changes).flatMap { _ in try press(1, in: &long).sizes }
        return [
            Figure(Sample(sizes).highest), Figure(Sample(times).p99),
            Figure((after - before) / Double(sessions - first) / 1_024),
        ]
    }

    /// Presses a button in one session after the other, and waits until all presses are shown.
    ///
    /// A press is timed from the moment at which it is due, even if the measurement itself is late.
    private static func press(
        _ count: Int, in sessions: inout [ScreenSession]
    ) throws -> (times: [Double], sizes: [Double]) {
        var watched = sessions.flatMap { session in
            [session.events, session.requests].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
        var times: [Double] = [], sizes: [Double] = [], pressed = 0
        let start = ContinuousClock.now
        while pressed < count || sessions.contains(where: { $0.isWaiting }) {
            var patience = Duration.seconds(60)
            if pressed < count {
                let due = start + period * pressed
                patience = due - .now
                guard patience > .zero else {
                    sessions[pressed % sessions.count].press(dueAt: due)
                    pressed += 1
                    continue
                }
            }
            let ready = poll(&watched, nfds_t(watched.count), Int32(patience / .milliseconds(1)))
            guard ready >= 0 || errno == EINTR, ready != 0 || pressed < count else { throw POSIXError(.ETIMEDOUT) }
            guard ready > 0 else { continue }
            for index in watched.indices where watched[index].revents != 0 {
                if index % 2 == 1 {
                    try sessions[index / 2].receiveAnswer()
                } else if let message = try sessions[index / 2].receiveMessage() {
                    times += message.times.map { $0 / .milliseconds(1) }
                    sizes.append(Double(message.size))
                }
            }
        }
        guard times.count == count else {
            throw BackplaneError(.componentFailed, "\(times.count) of \(count) presses were shown")
        }
        return (times, sizes)
    }
}

/// The connections of a browser, one for changes and one for requests, and the browser's data about its page.
private struct ScreenSession {
    private(set) var events: LoadedConnection, requests: LoadedConnection
    private let tab: String, fields: String, row: Int, screen: Substring
    /// The times at which presses were due, and the number of presses whose effects have been shown.
    private var due: [ContinuousClock.Instant] = [], shown = 0

    var isWaiting: Bool { shown < due.count }

    /// - Parameters:
    ///   - row: The row whose button is pressed.
    ///   - path: The path of the page.
    init(_ number: Int, row: Int, at path: String, signingInAt address: String, to port: Int) throws {
        func part(_ pattern: Regex<(Substring, Substring)>, of text: String) throws -> Substring {
            guard let match = text.firstMatch(of: pattern) else {
                throw BackplaneError(.componentFailed, "a page of screens is not as expected: \(text.prefix(200))")
            }
            return match.output.1
        }
        (events, requests) = (try LoadedConnection(port), try LoadedConnection(port))
        self.row = row
        let host = "Host: localhost\r\n"
        let signedIn = try requests.exchange("GET \(address) HTTP/1.1\r\n\(host)\r\n").head
        let cookie = "Cookie: \(try part(/[Ss]et-[Cc]ookie: ([^;]+);/, of: signedIn))\r\n"
        let page = try requests.exchange("GET \(path) HTTP/1.1\r\n\(host)\(cookie)\r\n").body
        screen = try part(/name="screen" value="([0-9]+)"/, of: page)
        let token = try part(/data-token="([0-9a-f]+)"/, of: page)
        fields = "\(host)\(cookie)X-Screen-Token: \(token)\r\nContent-Type: application/json\r\n"
        tab = String(number, radix: 16)
        let window = try part(/data-window="([0-9]+)"/, of: page)
        let revision = try part(/data-revision="([0-9]+)"/, of: page)
        let query = "tab=\(tab)&window=\(window)&revision=\(revision)"
        events.send("GET /events?\(query) HTTP/1.1\r\n\(host)\(cookie)\r\n")
        // Wait for the first message of the stream.
        while !events.received.hasEnd("}\n\n\r\n") {
            guard events.receive() else { throw POSIXError(.ECONNRESET) }
        }
        events.forget(events.received.count)
    }

    func close() {
        events.close()
        requests.close()
    }

    /// Presses the button of the row.
    mutating func press(dueAt moment: ContinuousClock.Instant) {
        let body = #"{"tab":"\#(tab)","kind":"press","id":"\#(screen)/books/\#(row)/borrow"}"#
        due.append(moment)
        requests.send("POST /event HTTP/1.1\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Receives the available bytes of answers to events.
    mutating func receiveAnswer() throws {
        guard requests.receive() else { throw POSIXError(.ECONNRESET) }
        while let answer = requests.answer() {
            guard answer.status == 204 else {
                throw BackplaneError(.componentFailed, "an event was answered with the status \(answer.status)")
            }
            requests.forget(answer.body.upperBound)
        }
    }

    /// Receives the available bytes of a message.
    ///
    /// - Returns: The times of the presses that the message is the first to show, and its size; `nil` if the message is
    ///   incomplete or shows no new presses. The row shows the number of presses, so a message may show several.
    mutating func receiveMessage() throws -> (times: [Duration], size: Int)? {
        guard events.receive() else { throw POSIXError(.ECONNRESET) }
        guard events.received.hasEnd("}\n\n\r\n") else { return nil }
        defer { events.forget(events.received.count) }
        let text = String(decoding: events.received, as: UTF8.self)
        guard let number = text.matches(of: /Borrowed ([0-9]+) times/).last.flatMap({ Int($0.output.1) }),
            due.indices.contains(number - 1), number > shown
        else { return nil }
        defer { shown = number }
        let now = ContinuousClock.now
        return (due[shown..<number].map { now - $0 }, events.received.count)
    }
}

extension [UInt8] {
    fileprivate func hasEnd(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
