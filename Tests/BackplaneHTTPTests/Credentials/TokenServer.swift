import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization

/// A server on loopback that issues tokens, and answers requests that have the current token.
final class TokenServer: Sendable {
    struct State: Sendable {
        var issued = 0
        /// The requests for a token: their paths and contents.
        var asked: [String] = []
        /// The `Authorization` of each request for a token, in order.
        var askedWith: [String?] = []
        /// The `Authorization` of each request for the resource, in order.
        var shown: [String] = []
        var refused = 0, served = 0
        /// The token that is good; `nil` means the last one that was issued.
        var good: String?
    }
    typealias Issue = @Sendable (_ number: Int) -> (status: String, fields: [(String, String)], body: String)
    let state = Mutex(State())
    private let server: Mutex<TestServer?> = Mutex(nil)

    var port: UInt16 { server.withLock { $0?.port ?? 0 } }
    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
    var host: String { "127.0.0.1:\(port)" }
    var seen: State { state.withLock { $0 } }

    /// - Parameters:
    ///   - issue: Answers a request for a token; it may block.
    ///   - refused: Called after a request was refused, with the number of refusals.
    init(
        issue: @escaping Issue = TokenServer.plainly, refused: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        let made = try TestServer { [weak self] request, connection in
            guard let self else { return connection.close() }
            if request.target.hasPrefix("/token") {
                let number = state.withLock { state in
                    state.asked.append("\(request.target) \(String(decoding: request.body, as: UTF8.self))")
                    state.askedWith.append(request["Authorization"])
                    state.issued += 1
                    return state.issued
                }
                let answer = issue(number)
                return connection.answer(answer.status, answer.fields, body: Array(answer.body.utf8))
            }
            let shown = request["Authorization"] ?? "nothing"
            let (isGood, count) = state.withLock { state in
                state.shown.append(shown)
                let isGood = shown == "Bearer \(state.good ?? "token-\(state.issued)")"
                if isGood { state.served += 1 } else { state.refused += 1 }
                return (isGood, state.refused)
            }
            if isGood { return connection.answer("200 OK", body: Array("a book".utf8)) }
            connection.answer("401 Unauthorized", [("WWW-Authenticate", #"Bearer error="invalid_token""#)])
            refused(count)
        }
        server.withLock { $0 = made }
    }

    static let plainly: Issue = { number in
        ("200 OK", [], #"{"a": {"token": "token-\#(number)"}, "refresh": "refresh-\#(number)"}"#)
    }

    /// Refuses every token but the next one that is issued.
    func revoke() { state.withLock { $0.good = "token-\($0.issued + 1)" } }

    /// Refuses every token.
    func refuseAll() { state.withLock { $0.good = "none" } }

    func stop() { server.withLock { $0 = nil } }
}

/// A latch that a thread of a server waits for.
final class ThreadLatch: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits; four minutes at the most, so that a test that fails ends.
    func wait() {
        _ = semaphore.wait(timeout: .now() + 240)
        semaphore.signal()
    }

    /// Waits on a thread of its own, so that none of Swift's pool is occupied.
    func opened() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.wait()
                continuation.resume()
            }
        }
    }
}
