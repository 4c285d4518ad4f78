#if Engines
import BackplaneNetwork
import BackplaneRoutes
import HTTPTypes
import Hummingbird
import NIOCore

// Conversions between the messages of routes and of Hummingbird.

extension HTTPHeaders {
    /// Creates the header fields of a request, in order; the first is `Host`.
    init(of request: Request) {
        self = [:]
        if let host = request.head.authority { add("Host", host) }
        for field in request.headers { add(field.name.rawName, field.value) }
    }
}

extension SocketAddress {
    /// The address and the port, such as `127.0.0.1:8080` or `[::1]:8080`; `nil` for a socket in the file system.
    var text: String? {
        guard let ipAddress, let port else { return nil }
        return ipAddress.contains(":") ? "[\(ipAddress)]:\(port)" : "\(ipAddress):\(port)"
    }
}

extension HTTPFields {
    /// Creates the fields of a valid head, in order, without those that frame the message.
    fileprivate init(_ headers: HTTPHeaders) {
        self.init()
        reserveCapacity(headers.fields.count + 3)
        for field in headers.fields {
            guard let name = HTTPField.Name(field.name), !HTTPHeaders.ofFraming.contains(name.canonicalName) else {
                continue
            }
            append(HTTPField(name: name, value: field.value))
        }
    }
}

extension HTTPField.Name {
    static let traceparent = Self("traceparent")!
}

extension Response {
    /// A function that writes a body.
    typealias Send = @concurrent @Sendable (inout any ResponseBodyWriter) async throws -> Void

    private init(_ status: Int, _ headers: HTTPHeaders, _ body: ResponseBody) {
        self.init(
            status: .init(code: status), headers: HTTPFields(headers), body: status.hasBody ? body : ResponseBody())
        if !status.hasBody { self.headers[.contentLength] = nil }
    }

    /// Creates the response with an answer in memory.
    init(_ answer: RouteResponse, isHead: Bool) {
        let isEmpty = isHead || answer.body.isEmpty
        self.init(
            answer.status, answer.headers,
            isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
        if isHead, answer.status.hasBody { headers[.contentLength] = "\(answer.body.count)" }
    }

    init(_ problem: RouteProblem, isHead: Bool = false) { self.init(problem.response, isHead: isHead) }

    /// Creates a response to a request whose body is not received, after which its connection ends.
    ///
    /// - Parameter finish: A function that is called before the connection ends.
    init(_ problem: RouteProblem, closing finish: (@Sendable () async throws -> Void)?) {
        let answer = problem.response, bytes = ByteBuffer(bytes: answer.body)
        self.init(
            answer.status, answer.headers,
            ResponseBody(contentLength: bytes.readableBytes) { writer in
                try await writer.write(bytes)
                try await writer.finish(nil)
                try await finish?()
                throw AnswerCut(reason: nil)
            })
        headers[.connection] = "close"
    }

    /// Creates the response with a file or a part of it.
    init(_ answer: FileAnswer, isHead: Bool, send: @escaping Send) {
        let length = answer.range.count, isEmpty = isHead || length == 0
        self.init(
            answer.status, answer.headers,
            isEmpty ? ResponseBody() : ResponseBody(contentLength: length, send))
        if isHead, answer.status.hasBody { headers[.contentLength] = "\(length)" }
    }

    /// Creates the response that begins with a head, and whose length is unknown.
    ///
    /// After a request with the method `HEAD`, the connection ends. Otherwise, the encoder would write the end of
    /// chunks, which the client would read as the next answer.
    init(_ head: RouteHead, isHead: Bool, send: @escaping Send) {
        self.init(
            head.status, head.headers, isHead ? ResponseBody { _ in throw AnswerCut(reason: nil) } : ResponseBody(send))
        if isHead { headers[.connection] = "close" }
    }
}

extension Int {
    /// A Boolean value that indicates whether an answer with this status has a body (RFC 9110, section 6.4.1).
    fileprivate var hasBody: Bool { self != 204 && self != 304 }
}
#endif
