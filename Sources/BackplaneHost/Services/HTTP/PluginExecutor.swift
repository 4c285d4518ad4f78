import Backplane
import BackplaneExchange
import BackplaneNetwork
import FoundationEssentials

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
            // The host handles TLS: an order does not carry its settings.
            capabilities = try await remote.capabilities(call).subtracting(.tlsSettings)
        } catch {
            throw error.ofExecutor(name, at: nil)
        }
    }

    var schemes: [String] { [name] }

    /// Sends the order, and returns once the first element of the answer, the head, has arrived.
    func open(_ request: HTTPRequest, _ options: HTTPOptions) async throws -> HTTPStreamedResponse {
        let missing = request.requirements(options).subtracting(capabilities)
        guard missing.isEmpty else {
            throw BackplaneError(
                .networkUnsupported,
                "the request needs \(missing), which the executor `\(name)` does not have; nothing was sent",
                at: request.printableURL)
        }
        let ready = try request.readyToSend(by: name), url = ready.printableURL
        try Task.checkCancellation()
        var order = HTTPOrder(ready, options)
        if capabilities.contains(.credentialNames) {
            (order.credential, order.account) = (options.credential, options.account)
        }
        let sent = try await order.take(ready.body)
        let answer = ExecutorAnswer(remote.exchange(order, call), of: name, at: url, sent.file)
        // A body that is not the sender's own file was counted when it was taken.
        let isCounted = ready.body.file == nil
        var response = try await answer.head { count in
            if !isCounted { options.sent?(min(max(0, count), sent.length), sent.length) }
        }
        if sent.length > 0 { options.sent?(sent.length, sent.length) }
        let announced = response.announcedLength(for: request)
        response.body = HTTPBodyStream(cancel: answer.close) { try await answer.piece(of: announced) }
        return response
    }
}

extension HTTPOrder {
    /// The maximum number of bytes of a body in memory.
    private static let memoryLimit = 1 << 20

    /// Adds the whole body of the request: a short one in memory, and any other one in a file.
    ///
    /// - Returns: The number of bytes, and the file if it was written here. It is removed with its last reference.
    /// - Throws: The errors of reading the body; `network.file` if it cannot be written.
    fileprivate mutating func take(_ content: HTTPBody) async throws -> (length: Int64, file: IncomingFile?) {
        guard !content.isEmpty else { return (0, nil) }
        var start: [UInt8] = [], written: IncomingFile?, length: Int64 = 0
        do {
            let stream = try content.open()
            if let path = content.file {
                file = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
                return (stream.length ?? 0, nil)
            }
            isChunked = stream.length == nil
            // A cancelled exchange does not wait for a sequence that ignores its cancellation.
            let pieces = PieceChannel(stream)
            defer { pieces.fail(CancellationError()) }
            while let piece = try await pieces.next() {
                try Task.checkCancellation()
                length += Int64(piece.count)
                if let written {
                    try written.write(piece)
                    continue
                }
                start += piece
                guard start.count > Self.memoryLimit else { continue }
                let path = FileManager.default.temporaryDirectory.appending(path: "body").path
                IncomingFile.removeAbandoned(beside: path)
                let created = try IncomingFile(path)
                try created.write(start)
                (written, start) = (created, [])
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw BackplaneError.bodyFailed(error)
        }
        if let written { file = written.temporary } else { body = start }
        return (length, written)
    }
}

/// The elements with which an executor answers one order.
///
/// `@unchecked`: the head is read before there is a body, and ``HTTPBodyStream`` neither reads a body concurrently nor
/// releases it while it is read.
private final class ExecutorAnswer: @unchecked Sendable {
    private var elements: StreamElements<HTTPResponsePart, BackplaneError>.Iterator?
    /// The file with the request's body, which is kept as long as it may be read.
    private var sent: IncomingFile?
    /// The executor's name in the manifest.
    private let executor: String
    private let url: String
    /// The number of bytes of the body that have arrived.
    private var count: Int64 = 0

    init(
        _ elements: StreamElements<HTTPResponsePart, BackplaneError>, of executor: String, at url: String,
        _ sent: IncomingFile?
    ) {
        (self.elements, self.sent, self.executor, self.url) = (elements.makeAsyncIterator(), sent, executor, url)
    }

    /// Returns the response without its body.
    ///
    /// - Parameter sent: A function that receives the numbers of sent bytes before the head.
    func head(sent: (Int64) -> Void) async throws -> HTTPStreamedResponse {
        var part = try await next()
        while case .sent(let count)? = part {
            sent(count)
            part = try await next()
        }
        guard let first = part else { throw malformed("ended the exchange without a response") }
        guard case .head(let head) = first else {
            throw malformed("sent a piece of a body before the head of its response")
        }
        guard 200..<600 ~= head.status else {
            throw malformed("returned a response with the status \(head.status); expected 200 to 599")
        }
        return HTTPStreamedResponse(
            status: head.status, headers: head.headers, version: head.version, body: HTTPBodyStream([]))
    }

    /// Returns the next piece of the body, or `nil` at its end.
    ///
    /// - Parameter announced: The length in the head.
    func piece(of announced: Int64?) async throws -> [UInt8]? {
        do {
            switch try await next() {
            case .head: throw malformed("returned two responses to one request")
            case .sent: throw malformed("reported the progress of a request to which it had responded")
            case .body(let piece):
                count += Int64(piece.count)
                if let announced, count > announced {
                    throw malformed("announced a body of \(announced) bytes, but sent more")
                }
                return piece
            case nil:
                if let announced, count < announced {
                    throw BackplaneError(
                        .networkFailed,
                        "the executor `\(executor)` announced a body of \(announced) bytes, but sent only \(count)",
                        at: url)
                }
                close()
                return nil
            }
        } catch {
            close()
            throw error
        }
    }

    /// Ends the exchange for the executor, and removes the file that was sent to it.
    @Sendable func close() { (elements, sent) = (nil, nil) }

    private func next() async throws -> HTTPResponsePart? {
        do throws(BackplaneError) {
            return try await elements?.next()
        } catch {
            try Task.checkCancellation()
            throw error.ofExecutor(executor, at: url)
        }
    }

    private func malformed(_ words: String) -> BackplaneError {
        BackplaneError(.networkMalformed, "the executor `\(executor)` \(words)", at: url)
    }
}

extension BackplaneError {
    /// Converts the error of an executor's component into an error of an exchange.
    ///
    /// - Parameter url: The URL without its secrets, for errors without a location.
    func ofExecutor(_ name: String, at url: String?) -> BackplaneError {
        // The deadline belongs to the exchange.
        if code == .callDeadline { return self }
        if code.rawValue.hasPrefix("network.") {
            var error = self
            error.location = location ?? url
            return error
        }
        // Invalid heads and answers: a later exchange would not fare better.
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
