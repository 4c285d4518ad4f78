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

/// The body of a request to a plugin executor, which pulls it piece by piece.
final class OutgoingBody: Sendable {
    private struct State {
        var stream: HTTPBodyStream?
        /// The bytes of a chunk that exceed the requested number.
        var rest: ArraySlice<UInt8> = []
        /// The pull that has not been answered.
        var reply: ChunkReply?
        var task: Task<Void, Never>?
        var failure: BackplaneError?
    }
    private let state: Mutex<State>
    /// The total number of bytes; `nil` if it is unknown.
    let length: Int64?

    /// Opens a body.
    ///
    /// - Throws: The error of opening it.
    init(_ body: HTTPBody) throws {
        let stream = try body.open()
        length = stream.length
        state = Mutex(State(stream: stream))
    }

    /// The reason why the body could not be read.
    var failure: BackplaneError? { state.withLock { $0.failure } }

    /// Answers with the next piece, of at most `most` bytes.
    func pull(_ most: Int, _ reply: ChunkReply) {
        enum Step {
            case hand(ArraySlice<UInt8>)
            case wait
            case refuse(BackplaneError)
        }
        let most = max(1, min(most, Exchange.pieceSize))
        let step = state.withLock { state -> Step in
            guard let stream = state.stream else { return .refuse(.bodyUnknown) }
            guard state.reply == nil else {
                return .refuse(
                    BackplaneError(
                        .networkBody, "the body is being pulled; wait for the answer before the next pull"))
            }
            if !state.rest.isEmpty {
                defer { state.rest = state.rest.dropFirst(most) }
                return .hand(state.rest.prefix(most))
            }
            state.reply = reply
            state.task = Task { await self.read(stream, most) }
            return .wait
        }
        switch step {
        case .hand(let bytes): reply.end(bytes)
        case .wait: break
        case .refuse(let error): reply.end(error)
        }
    }

    private func read(_ stream: HTTPBodyStream, _ most: Int) async {
        do {
            let chunk = try await stream.next()
            let reply = state.withLock { state in
                if let chunk { state.rest = chunk.dropFirst(most) }
                return state.reply.take()
            }
            if let chunk { reply?.end(chunk.prefix(most)) } else { reply?.end(trailers: stream.trailers) }
        } catch {
            let failure = BackplaneError.bodyFailed(error)
            let reply = state.withLock { state in
                if state.stream != nil { state.failure = failure }
                return state.reply.take()
            }
            reply?.end(failure)
        }
    }

    /// Ends the body, because its exchange has ended, and answers the pull in progress.
    func end() {
        let (stream, task, reply) = state.withLock { state in
            (state.stream.take(), state.task.take(), state.reply.take())
        }
        task?.cancel()
        stream?.cancel()
        reply?.end(.exchangeCancelled)
    }
}

extension BackplaneError {
    /// The error for a number that does not, or no longer, belong to a body.
    static var bodyUnknown: BackplaneError {
        BackplaneError(.networkBody, "there is no body with this number, or its exchange has ended")
    }
}

/// The body of a response that a plugin executor pushes, one piece at a time, each consumed before the next one.
final class IncomingBody: Sendable {
    private typealias Reader = CheckedContinuation<HTTPBodyPart, any Error>

    private struct State {
        /// The piece that was pushed but not yet consumed, and the pending answer to its sender.
        var piece: (bytes: [UInt8], taken: Reply)?
        var reader: Reader?
        /// The end, after the last piece.
        var end: Result<HTTPHeaders, any Error>?
        /// The number of bytes announced by the head.
        var announced: Int64?
        var count: Int64 = 0
    }
    private let state = Mutex(State())

    /// Records the number of bytes announced by the head, and checks the pieces that were pushed before.
    func expect(_ length: Int64?) {
        state.withLock { state in
            state.announced = length
            guard let length, case .success = state.end, state.count != length else { return }
            state.end = .failure(BackplaneError.wrongLength(length, state.count))
        }
    }

    // MARK: The executor's side

    /// Accepts a piece, or the end if it is empty, and answers once the reader has consumed it.
    func push(_ bytes: [UInt8], trailers: HTTPHeaders, _ reply: Reply) {
        enum Step {
            case deliver(Reader?, Result<HTTPBodyPart, any Error>)
            case fail(Reader?, BackplaneError)
            case wait
            case refuse(BackplaneError)
        }
        let step = state.withLock { state -> Step in
            guard state.end == nil else { return .refuse(.bodyUnknown) }
            guard state.piece == nil else {
                return .refuse(
                    BackplaneError(
                        .networkBody,
                        "the previous piece has not been consumed yet; wait for its answer before the next push"))
            }
            guard bytes.count <= Exchange.pieceSize else {
                return .refuse(
                    BackplaneError(
                        .networkBody,
                        "a piece may have at most \(Exchange.pieceSize) bytes, but this one has \(bytes.count)"))
            }
            state.count += Int64(bytes.count)
            if let announced = state.announced, bytes.isEmpty ? state.count != announced : state.count > announced {
                let error = BackplaneError.wrongLength(announced, state.count)
                state.end = .failure(error)
                return .fail(state.reader.take(), error)
            }
            if bytes.isEmpty {
                state.end = .success(trailers)
                return .deliver(state.reader.take(), .success(.end(trailers: trailers)))
            }
            guard let reader = state.reader.take() else {
                state.piece = (bytes, reply)
                return .wait
            }
            return .deliver(reader, .success(.bytes(bytes)))
        }
        switch step {
        case .deliver(let reader, let part):
            reader?.resume(with: part)
            reply.end(EncodedAnswer([]))
        case .fail(let reader, let error):
            reader?.resume(throwing: error)
            reply.end(error)
        case .wait: break
        case .refuse(let error): reply.end(error)
        }
    }

    /// Ends the body with an error, unless it has ended.
    func fail(_ error: any Error) {
        let (reader, piece) = state.withLock { state -> (Reader?, (bytes: [UInt8], taken: Reply)?) in
            guard state.end == nil else { return (nil, nil) }
            state.end = .failure(error)
            return (state.reader.take(), state.piece.take())
        }
        reader?.resume(throwing: error)
        piece?.taken.end(.exchangeCancelled)
    }

    // MARK: The reader's side

    /// Returns the next piece when it is available.
    func next() async throws -> HTTPBodyPart {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let (part, taken) = state.withLock { state -> (Result<HTTPBodyPart, any Error>?, Reply?) in
                    if let piece = state.piece.take() { return (.success(.bytes(piece.bytes)), piece.taken) }
                    if let end = state.end { return (end.map { .end(trailers: $0) }, nil) }
                    state.reader = reader
                    return (nil, nil)
                }
                if let part { reader.resume(with: part) }
                taken?.end(EncodedAnswer([]))
            }
        } onCancel: {
            fail(CancellationError())
        }
    }
}

extension BackplaneError {
    fileprivate static func wrongLength(_ announced: Int64, _ count: Int64) -> BackplaneError {
        BackplaneError(
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
            guard case .request(let body)? = BorrowedBodies.find(body) else { throw .bodyUnknown }
            body.pull(Int(clamping: most), reply)
        } catch {
            reply.end(error)
        }
    },
    push: { handle, body, piece, trailers, count, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            guard case .response(let body)? = BorrowedBodies.find(body) else { throw .bodyUnknown }
            let push = try component.begin(reply, isWait: true)  // for the reader
            body.push(
                piece.array, trailers: HTTPHeaders(copying: trailers, count: count),
                Reply { component.answer(push, $0, $1) })
        } catch {
            reply.end(error)
        }
    })

/// The bodies of exchanges that plugin executors carry out, by number.
///
/// A component receives a number and never a pointer, as with `OutstandingChunks`. A number does not identify a host,
/// and the table belongs to the process.
enum BorrowedBodies {
    /// A body of an exchange in progress.
    enum Body: Sendable {
        case request(OutgoingBody)
        case response(IncomingBody)
    }
    private static let bodies = Mutex<[UInt64: Body]>([:])

    /// Lends a body, and returns its number.
    ///
    /// It is random, so that no component finds the bodies of others by counting, and below 2^53, so that every reader
    /// of JSON represents it exactly.
    static func lend(_ body: Body) -> UInt64 {
        bodies.withLock { bodies in
            while true {
                let number = UInt64.random(in: 1..<(1 << 53))
                guard bodies[number] == nil else { continue }
                bodies[number] = body
                return number
            }
        }
    }

    static func find(_ number: UInt64) -> Body? { bodies.withLock { $0[number] } }

    static func takeBack(_ number: UInt64) { bodies.withLock { _ = $0.removeValue(forKey: number) } }
}
