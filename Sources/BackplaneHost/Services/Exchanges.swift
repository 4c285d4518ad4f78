import Backplane
import BackplaneBoundary
import BackplaneNetwork
import Synchronization

/// The exchanges of one component in progress, each ended exactly once: by its executor, its deadline or its caller.
final class Exchanges: Sendable {
    typealias Done = @Sendable (Result<HTTPResponse, BackplaneError>) -> Void

    private struct State {
        var underWay: [UInt64: (task: Task<Void, Never>, done: Done)] = [:]
    }
    private let executors: [any HTTPExecutor]
    private let timer: DeadlineTimer
    private let state = Mutex(State())

    init(_ executors: [any HTTPExecutor], timer: DeadlineTimer) {
        (self.executors, self.timer) = (executors, timer)
    }

    /// Starts an exchange and returns the id by which it can be cancelled, or 0 if it was refused.
    func start(_ request: HTTPRequest, _ call: Call, _ done: @escaping Done) -> UInt64 {
        guard let executor = executors.first(where: { $0.schemes.contains(request.scheme) }) else {
            let schemes = executors.flatMap(\.schemes).sorted().map { "`\($0):`" }.joined(separator: ", ")
            done(
                .failure(
                    BackplaneError(
                        .networkRefused, "this host cannot load `\(request.scheme):` URLs; it supports \(schemes)",
                        at: request.printableURL)))
            return 0
        }
        let id = Callbacks.newID()
        state.withLock { state in
            state.underWay[id] = (Task { self.end(id, await Self.run(request, executor)) }, done)
        }
        if let deadline = call.deadline {
            timer.schedule(id, at: deadline) { self.end(id, .failure(.deadlinePassed(before: "there was a response"))) }
            if state.withLock({ $0.underWay[id] == nil }) { timer.cancel(id) }
        }
        return id
    }

    func cancel(_ id: UInt64) {
        end(id, .failure(BackplaneError(.callCancelled, "the exchange was cancelled")))
    }

    func cancelAll() {
        for id in state.withLock({ Array($0.underWay.keys) }) { cancel(id) }
    }

    private func end(_ id: UInt64, _ result: Result<HTTPResponse, BackplaneError>) {
        guard let exchange = state.withLock({ $0.underWay.removeValue(forKey: id) }) else { return }
        timer.cancel(id)
        exchange.task.cancel()
        exchange.done(result)
    }

    private static func run(_ request: HTTPRequest, _ executor: any HTTPExecutor) async -> Result<
        HTTPResponse, BackplaneError
    > {
        do {
            return .success(try await executor.execute(request))
        } catch let error as BackplaneError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(BackplaneError(.callCancelled, "the exchange was cancelled"))
        } catch {
            return .failure(BackplaneError(.networkFailed, String(describing: error), at: request.printableURL))
        }
    }
}
