#if Engines
import Backplane
import BackplaneRoutes
import Hummingbird
import ServiceLifecycle
import Synchronization

/// The sender of an answer in parts, which its connection takes one after another.
///
/// `@unchecked`: only one step at a time uses the iterator.
final class PartSender: @unchecked Sendable {
    typealias Part = Result<RoutePart?, BackplaneError>
    private struct State {
        var step: RouteStep<Part>?
        var isStopped = false
    }
    /// The time without an event after which a comment is sent.
    ///
    /// The comment shows proxies that the connection is in use, and the server that the client is still connected.
    static let patience = Duration.seconds(15)
    private var iterator: StreamElements<RoutePart, BackplaneError>.Iterator
    private let state = Mutex(State())

    init(_ parts: StreamElements<RoutePart, BackplaneError>) { iterator = parts.makeAsyncIterator() }

    /// Returns the next part; `nil` after the last one.
    func next() async -> Part {
        do { return .success(try await iterator.next()) } catch { return .failure(error) }
    }

    /// Sends the parts after the head.
    ///
    /// A graceful shutdown ends events after the last one. Bytes end with their connection, because they would look
    /// complete otherwise.
    ///
    /// - Throws: ``AnswerCut`` if the connection has to end; the error of writing if the client has left.
    @concurrent func send(
        to writer: inout any ResponseBodyWriter, asEvents: Bool, by clock: any DeadlineClock
    ) async throws {
        try await withGracefulShutdownHandler {
            try await write(to: &writer, asEvents, clock)
        } onGracefulShutdown: {
            self.stop()
        }
    }

    @concurrent private func write(
        to writer: inout any ResponseBodyWriter, _ areEvents: Bool, _ clock: any DeadlineClock
    ) async throws {
        defer { state.withLock { $0.step.take() }?.cancel() }
        while true {
            let (step, isStopped) = current()
            let limit = areEvents ? clock.moment + Self.patience : nil
            if isStopped {
                guard areEvents else { throw AnswerCut(reason: nil) }
                return try await writer.finish(nil)
            }
            guard let part = await step.result(until: limit, by: clock) else {
                try Task.checkCancellation()
                if areEvents, !state.withLock({ $0.isStopped }) { try await writer.write(ByteBuffer(string: ":\n\n")) }
                continue
            }
            state.withLock { $0.step = nil }
            switch part {
            case .success(.body(let bytes)?): try await writer.write(ByteBuffer(bytes: bytes))
            case .success(.event(let event)?): try await writer.write(ByteBuffer(string: event.text))
            case .success(.head?):
                throw AnswerCut(
                    reason: BackplaneError(.callInvalidOutput, "the stream sent a second head, after its first part"))
            case .success(nil): return try await writer.finish(nil)
            case .failure(let error): throw AnswerCut(reason: error)
            }
        }
    }

    /// Returns the step that reads the next part, and begins it if necessary.
    private func current() -> (RouteStep<Part>, isStopped: Bool) {
        let (step, isStopped) = state.withLock { ($0.step, $0.isStopped) }
        if let step { return (step, isStopped) }
        let next = RouteStep { await self.next() }
        return state.withLock { state in
            state.step = next
            return (next, state.isStopped)
        }
    }

    /// Ends the answer, without running code of the plugin here.
    private func stop() {
        let step = state.withLock { state in
            state.isStopped = true
            return state.step
        }
        step?.interrupt()
    }
}

/// The reason why an answer ends with its connection, so that clients do not consider the answer complete.
struct AnswerCut: Error {
    /// The error of the route; `nil` if there is none to report.
    let reason: BackplaneError?
}
#endif
