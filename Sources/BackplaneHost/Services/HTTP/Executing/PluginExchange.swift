import Backplane
import BackplaneExchange
import BackplaneNetwork
import Synchronization

/// One exchange that a plugin executor carries out.
final class PluginExchange: Sendable {
    private typealias Opener = CheckedContinuation<HTTPStreamedResponse, any Error>

    private struct State {
        /// The waiting opener, until it has the response.
        var opener: Opener?
        /// The task that reads the response heads.
        var task: Task<Void, Never>?
        var hasHead = false
        var error: (any Error)?
    }
    private let request: HTTPRequest
    private let options: HTTPOptions
    /// The executor's name in the manifest.
    private let executor: String
    private let outgoing: OutgoingBody?
    private let incoming = IncomingBody()
    /// The numbers of both bodies.
    private let numbers: (request: UInt64?, response: UInt64)
    private let state = Mutex(State())

    /// Opens the body of a request, and lends both bodies.
    ///
    /// - Throws: The error of opening the body.
    init(_ request: HTTPRequest, _ options: HTTPOptions, of executor: String) throws {
        (self.request, self.options, self.executor) = (request, options, executor)
        outgoing = request.body.isEmpty ? nil : try OutgoingBody(request.body)
        numbers = (outgoing.map { BorrowedBodies.lend(.request($0)) }, BorrowedBodies.lend(.response(incoming)))
    }

    /// Requests the exchange, and returns once the head of the final response has arrived.
    func open(_ remote: Remote<HTTPExecuting>, _ call: Call) async throws -> HTTPStreamedResponse {
        let order = HTTPOrder(
            request, options, body: numbers.request, length: outgoing?.length, response: numbers.response)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { opener in
                let error = state.withLock { state -> (any Error)? in
                    guard state.error == nil else { return state.error }
                    state.opener = opener
                    state.task = Task { await self.read(remote.exchange(order, call)) }
                    return nil
                }
                if let error { opener.resume(throwing: error) }
            }
        } onCancel: {
            end(CancellationError())
        }
    }

    private func read(_ heads: StreamElements<HTTPHead>) async {
        do throws(BackplaneError) {
            for try await head in heads { try headed(head) }
            end(BackplaneError(.networkMalformed, "the executor `\(executor)` ended the exchange too early", at: url))
        } catch {
            end(error.ofExecutor(executor, at: url))
        }
    }

    private var url: String { request.printableURL }

    private func headed(_ head: HTTPHead) throws(BackplaneError) {
        let headers = try HTTPHeaders(pairs: head.headers)
        switch head.status {
        case 100..<200: options.interim?(head.status, headers)
        case 200..<600:
            let (isFirst, opener) = state.withLock { state in
                defer { state.hasHead = true }
                return (!state.hasHead, state.opener.take())
            }
            // Looked at first: a response that is released ends the exchange.
            guard isFirst else {
                throw BackplaneError(.networkMalformed, "the executor returned two final responses to one request")
            }
            var response = HTTPStreamedResponse(
                status: head.status, headers: headers, version: head.version, body: HTTPBodyStream([]))
            incoming.expect(response.hasBody(for: request) ? response.contentLength : nil)
            response.body = HTTPBodyStream(length: nil, cancel: { self.end(CancellationError()) }) {
                do {
                    let part = try await self.incoming.next()
                    if case .end = part { self.end(CancellationError()) }
                    return part
                } catch {
                    // Nothing is cancelled after a read that failed, and the executor has to learn of it.
                    self.end(error)
                    throw error
                }
            }
            opener?.resume(returning: response)
        default:
            throw BackplaneError(
                .networkMalformed, "it returned a response with the status \(head.status); expected 100 to 599")
        }
    }

    /// Ends the exchange for all its participants, exactly once.
    private func end(_ error: any Error) {
        let (isFirst, opener, task) = state.withLock { state in
            defer { if state.error == nil { state.error = error } }
            return (state.error == nil, state.opener.take(), state.task.take())
        }
        guard isFirst else { return }
        let error = error is CancellationError ? error : outgoing?.failure ?? error
        incoming.fail(error)
        opener?.resume(throwing: error)
        outgoing?.end()
        if let number = numbers.request { BorrowedBodies.takeBack(number) }
        BorrowedBodies.takeBack(numbers.response)
        task?.cancel()
    }
}
