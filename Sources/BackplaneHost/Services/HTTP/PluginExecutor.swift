import Backplane
import BackplaneExchange
import BackplaneNetwork
import CBackplane
import Synchronization

/// An executor that a plugin provides, in its state at the start of one exchange.
struct PluginExecutor: HTTPExecutor {
    /// The name in the manifest, which is also the URL scheme that it serves.
    let name: String
    let capabilities: HTTPCapabilities
    private let remote: Remote<HTTPExecuting>
    private let call: Call

    /// Finds an executor, and requests its capabilities.
    ///
    /// - Parameters:
    ///   - call: The call for which the exchange is made.
    ///   - find: A function that returns the manager, starting it if necessary.
    /// - Throws: `network.failed` if it does not start, or does not answer.
    init(
        _ name: String, _ call: Call, _ find: () async throws(BackplaneError) -> Remote<HTTPExecuting>
    ) async throws(BackplaneError) {
        (self.name, self.call) = (name, call)
        do throws(BackplaneError) {
            remote = try await find()
            // TLS is the host's: an order does not carry its settings.
            capabilities = try await remote.capabilities(call).subtracting(.tlsSettings)
        } catch {
            throw error.ofExecutor(name, at: nil)
        }
    }

    var schemes: [String] { [name] }

    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        let missing = request.requirements(options).subtracting(capabilities)
        guard missing.isEmpty else {
            throw BackplaneError(
                .networkUnsupported,
                "the request needs \(missing), which the executor `\(name)` does not have; nothing was sent",
                at: request.printableURL)
        }
        let ready = try request.readyToSend(by: name)
        try Task.checkCancellation()
        return try await PluginExchange(ready, options, of: name).open(remote, call)
    }
}

extension BackplaneError {
    /// Converts the error of an executor's component into that of an exchange.
    ///
    /// - Parameter url: The URL without its secrets, for errors without a location.
    func ofExecutor(_ name: String, at url: String?) -> BackplaneError {
        // The deadline is that of the exchange.
        if code == .callDeadline { return self }
        if code.rawValue.hasPrefix("network.") {
            var error = self
            error.location = location ?? url
            return error
        }
        // Heads and answers that are none: a later exchange would not fare better.
        if code == .callInvalidOutput || code == .callInvalidInput {
            return BackplaneError(
                .networkMalformed, "the executor `\(name)` returned no valid response: \(message)", at: url,
                causes: [self])
        }
        let reason =
            switch code {
            case .streamInterrupted, .callRetired: "was replaced or stopped before the response was complete"
            default: "failed: \(message)"
            }
        return BackplaneError(.networkFailed, "the executor `\(name)` \(reason)", at: url, causes: [self])
    }
}

/// One exchange that a plugin executor carries out.
final class PluginExchange: Sendable {
    private typealias Opener = CheckedContinuation<HTTPStreamedResponse, any Error>

    private struct State {
        /// The waiting opener, until it has the response.
        var opener: Opener?
        /// The task that reads the response's head.
        var task: Task<Void, Never>?
        var hasHead = false
        var error: (any Error)?
    }
    private let request: HTTPRequest
    private let options: HTTPOptions
    /// The executor's name in the manifest.
    private let executor: String
    private let outgoing: PieceChannel?
    /// The number of bytes of the request's body; `nil` if it is unknown.
    private let length: Int64?
    private let incoming = PieceChannel()
    /// The numbers of both bodies.
    private let numbers: (request: UInt64?, response: UInt64)
    private let state = Mutex(State())

    /// Opens the body of a request, and lends both bodies.
    ///
    /// - Throws: The error of opening the body.
    init(_ request: HTTPRequest, _ options: HTTPOptions, of executor: String) throws {
        (self.request, self.options, self.executor) = (request, options, executor)
        let stream = request.body.isEmpty ? nil : try request.body.open()
        (outgoing, length) = (stream.map { PieceChannel($0) }, stream?.length)
        numbers = (outgoing.map { BorrowedBodies.ofRequests.add($0) }, BorrowedBodies.ofResponses.add(incoming))
    }

    /// Requests the exchange, and returns once the head of the response has arrived.
    func open(_ remote: Remote<HTTPExecuting>, _ call: Call) async throws -> HTTPStreamedResponse {
        let order = HTTPOrder(
            request, options, body: numbers.request, length: length, response: numbers.response)
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

    private func read(_ heads: StreamElements<HTTPHead, BackplaneError>) async {
        do throws(BackplaneError) {
            for try await head in heads { try headed(head) }
            end(BackplaneError(.networkMalformed, "the executor `\(executor)` ended the exchange too early", at: url))
        } catch {
            end(error.ofExecutor(executor, at: url))
        }
    }

    private var url: String { request.printableURL }

    private func headed(_ head: HTTPHead) throws(BackplaneError) {
        guard 200..<600 ~= head.status else {
            throw BackplaneError(
                .networkMalformed, "it returned a response with the status \(head.status); expected 200 to 599")
        }
        let headers = try HTTPHeaders(pairs: head.headers)
        let (isFirst, opener) = state.withLock { state in
            defer { state.hasHead = true }
            return (!state.hasHead, state.opener.take())
        }
        // Looked at first: a response that is released ends the exchange.
        guard isFirst else {
            throw BackplaneError(.networkMalformed, "the executor returned two responses to one request")
        }
        var response = HTTPStreamedResponse(
            status: head.status, headers: headers, version: head.version, body: HTTPBodyStream([]))
        let announced = response.hasBody(for: request) ? response.contentLength : nil, count = Mutex<Int64>(0)
        response.body = HTTPBodyStream(length: nil, cancel: { self.end(CancellationError()) }) {
            do {
                let piece = try await self.incoming.next()
                try Self.check(piece, count, announced)
                if piece == nil { self.end(CancellationError()) }
                return piece
            } catch {
                // Nothing is cancelled after a read that failed, and the executor has to learn of it.
                self.end(error)
                throw error
            }
        }
        opener?.resume(returning: response)
    }

    /// Ends the exchange for all its participants, exactly once.
    private func end(_ error: any Error) {
        let (isFirst, opener, task) = state.withLock { state in
            defer { if state.error == nil { state.error = error } }
            return (state.error == nil, state.opener.take(), state.task.take())
        }
        guard isFirst else { return }
        let error = error is CancellationError ? error : outgoing?.failure.map(BackplaneError.bodyFailed) ?? error
        incoming.fail(error)
        opener?.resume(throwing: error)
        outgoing?.fail(BackplaneError.exchangeCancelled)
        if let number = numbers.request { BorrowedBodies.ofRequests.remove(number) }
        BorrowedBodies.ofResponses.remove(numbers.response)
        task?.cancel()
    }

    /// Counts the bytes of a piece, or the end.
    ///
    /// - Throws: An error if the body is longer or shorter than announced.
    private static func check(
        _ piece: [UInt8]?, _ count: borrowing Mutex<Int64>, _ announced: Int64?
    ) throws(BackplaneError) {
        let count = count.withLock { count in
            count += Int64(piece?.count ?? 0)
            return count
        }
        guard let announced, piece == nil ? count != announced : count > announced else { return }
        throw BackplaneError(
            count < announced ? .networkFailed : .networkMalformed,
            "the response announced a body of \(announced) bytes, but it has \(count < announced ? "only \(count)" : "more")"
        )
    }
}

/// The functions of `backplane.bodies/1`.
let bodyFunctions = bp_bodies_1(
    size: UInt32(MemoryLayout<bp_bodies_1>.size), reserved: 0,
    pull: { handle, body, most, done, context in
        let reply = ChunkReply(done, context)
        do throws(BackplaneError) {
            _ = try ComponentHandles.require(handle)
            guard let body = BorrowedBodies.ofRequests.find(body) else { throw .bodyUnknown }
            try body.read(upTo: Int(clamping: most)) { piece in reply.end(piece.mapError { .bodyFailed($0) }) }
        } catch {
            reply.end(error)
        }
    },
    push: { handle, body, piece, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            guard let body = BorrowedBodies.ofResponses.find(body) else { throw .bodyUnknown }
            guard piece.length <= PieceChannel.pieceSize else {
                throw BackplaneError(
                    .networkBody,
                    "a piece may have at most \(PieceChannel.pieceSize) bytes, but this one has \(piece.length)")
            }
            let bytes = piece.array
            let push = try component.begin(reply, isWait: true)  // for the reader
            let answer = Reply { component.answer(push, $0, $1) }
            do throws(BackplaneError) {
                try body.send(bytes.isEmpty ? nil : bytes) { error in
                    if error == nil { answer.end(EncodedAnswer([])) } else { answer.end(.exchangeCancelled) }
                }
            } catch {
                answer.end(error)
            }
        } catch {
            reply.end(error)
        }
    })

/// The bodies of exchanges that plugin executors carry out.
enum BorrowedBodies {
    static let ofRequests = NumberTable<PieceChannel>()
    static let ofResponses = NumberTable<PieceChannel>()
}
