import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// The communication controller that carries out exchanges with Firebase through its REST interfaces.
///
/// A request names its credential, and the host adds the token.
final class FirebaseCommunication: CommunicationController {
    typealias Provides = HTTPExecuting
    typealias Configuration = FirebaseConfiguration
    let http: HTTPClient
    let sessions = UploadSessions()
    private let configuration: Configuration

    init(_ context: Context) { (http, configuration) = (context.http, context.configuration) }

    static func methods(_ table: inout Methods) {
        table.async(\.capabilities) { _, _, _ in [.streamedUploads, .credentialNames] }
        table.stream(\.exchange) { controller, order, parts, call in
            try await controller.exchange(order, parts, call)
        }
    }

    private func exchange(
        _ order: HTTPOrder, _ parts: StreamSender<HTTPResponsePart>, _ call: Call
    ) async throws {
        let address = try FirebaseAddress(order, configuration)
        let response: HTTPStreamedResponse
        if let object = address.object, order.method == "PUT" {
            response = try await upload(order, object, at: address, parts, call)
        } else if address.service == .database, order.isOfEvents {
            return try await follow(order, address, parts, call)
        } else {
            if address.service == .database { try await order.requireDepth(below: address.depth) }
            response = try await http.open(order.request(to: address.url), call, order.options(redirects: 5))
        }
        try await parts.send(try await FirebaseAnswer.to(order, at: address, response))
    }
}

extension HTTPOrder {
    /// A Boolean value that indicates whether the order asks for the events of a path.
    fileprivate var isOfEvents: Bool {
        method == "GET" && request.headers["Accept"]?.contains("text/event-stream") == true
    }

    /// The content, whose length is always known.
    var content: HTTPBody { file.map { .file($0) } ?? .bytes(body ?? []) }

    /// Returns the request to a URL of Firebase.
    func request(to url: String) -> HTTPRequest {
        var request = request
        request.url = url
        request.headers["Last-Event-ID"] = nil
        return request
    }

    /// Returns the options of a request to Firebase, including the credential of the order.
    func options(redirects: Int = 0) -> HTTPOptions {
        var options = options
        options.redirects = redirects
        // The order has already been checked for equal requests.
        options.equalRequests = .allow
        return options
    }

    /// Checks that a value does not exceed the maximum depth of a database.
    ///
    /// - Throws: `network.body`.
    fileprivate func requireDepth(below depth: Int) async throws {
        let content = content
        guard !content.isEmpty, ["PUT", "POST", "PATCH"].contains(method) else { return }
        var nesting = JSONNesting()
        for try await bytes in try content.open() { nesting.read(bytes) }
        // `POST` adds a generated key.
        let whole = depth + nesting.most + (method == "POST" ? 1 : 0)
        guard whole > FirebaseAddress.mostDepth else { return }
        throw BackplaneError(
            .networkBody,
            "the value would be \(whole) levels deep; a database has \(FirebaseAddress.mostDepth); nothing was sent",
            at: request.printableURL)
    }
}

/// The depth of the objects and arrays in a JSON text, which need not be valid.
private struct JSONNesting {
    private(set) var most = 0
    private var depth = 0, isString = false, isEscaped = false

    mutating func read(_ bytes: [UInt8]) {
        for byte in bytes {
            if isString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                most = max(most, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
    }
}

extension HTTPHeaders {
    /// A Boolean value that indicates whether the body is a web page, according to its media type.
    var isWebPage: Bool { self["Content-Type"]?.contains("html") == true }
}

/// The conversion of Firebase's responses to responses of the executor.
enum FirebaseAnswer {
    private static let explanationLimit = 64 << 10

    /// Returns the response to an order.
    ///
    /// - Throws: `network.unparsable` for a web page instead of data, `network.sign-in` for an expired token.
    static func to(
        _ order: HTTPOrder, at address: FirebaseAddress, _ response: HTTPStreamedResponse
    ) async throws -> HTTPStreamedResponse {
        // A 412 has the current value as its body, and the `ETag` for the next condition.
        if response.status == 412 { return response }
        guard (200..<400).contains(response.status) else {
            let body = try? await response.body.collect(upTo: explanationLimit)
            return HTTPStreamedResponse(
                try refusal(response.status, body ?? [], response.headers, address.service))
        }
        if !address.isContent, response.status == 200, response.headers.isWebPage {
            response.body.cancel()
            throw BackplaneError(
                .networkUnparsable, "expected JSON, found a web page, perhaps from a proxy",
                failure: .init(code: "firebase.web-page", details: ["status": "\(response.status)"]))
        }
        guard address.service == .database, !address.isVerbatim, order.method == "POST", response.status == 200 else {
            return response
        }
        let body = try await response.body.collect(upTo: explanationLimit)
        guard case .dictionary(let pushed)? = try? DocumentValue(json: Data(body)),
            case .string(let name)? = pushed["name"]
        else {
            throw BackplaneError(.networkUnparsable, "expected the `name` of the new child")
        }
        var headers: HTTPHeaders = ["Content-Type": "text/plain; charset=utf-8"]
        headers["ETag"] = response.headers["ETag"]
        return HTTPStreamedResponse(HTTPResponse(status: 200, headers: headers, body: Array(name.utf8)))
    }

    /// Returns the response for a refusal, with the service's message as `application/problem+json` (RFC 9457).
    ///
    /// The database responds with 401 to requests that its rules forbid and to expired tokens
    /// (firebase.google.com/docs/reference/rest/database#section-error-conditions). Cloud Storage responds with 403 to
    /// requests that its rules forbid, and with 402 or 429 if a quota is exceeded
    /// (firebase.google.com/docs/storage/web/handle-errors).
    static func refusal(
        _ status: Int, _ body: [UInt8], _ fields: HTTPHeaders, _ service: FirebaseAddress.Service
    ) throws(BackplaneError) -> HTTPResponse {
        let message = message(body, fields) ?? "the service answered with the status \(status)"
        var (status, code) = (status, "firebase.refused")
        let isDenied = service == .database && message.lowercased().hasPrefix("permission denied")
        switch status {
        case 401 where !isDenied:
            throw BackplaneError(
                .networkSignIn, message, failure: .init(code: "firebase.token", details: ["status": "401"]))
        case 401, 403: (status, code) = (403, "firebase.permission-denied")
        case 404: code = "firebase.not-found"
        case 402, 429: code = "firebase.quota"
        default: if message.lowercased().contains("quota") { code = "firebase.quota" }
        }
        let problem: DocumentValue = [
            "code": .string(code), "detail": .string(message), "status": .integer(Int64(status)),
        ]
        var headers: HTTPHeaders = ["Content-Type": "application/problem+json"]
        headers["Retry-After"] = fields["Retry-After"]
        return HTTPResponse(status: status, headers: headers, body: Array(problem.json))
    }

    /// Returns the service's message: `error` of the database, `error.message` of other services; `nil` for none.
    private static func message(_ body: [UInt8], _ fields: HTTPHeaders) -> String? {
        if fields.isWebPage { return "a web page, perhaps from a proxy" }
        guard case .dictionary(let answer)? = try? DocumentValue(json: Data(body)) else { return nil }
        switch answer["error"] {
        case .string(let text): return text
        case .dictionary(let error): if case .string(let text)? = error["message"] { return text }
        default: break
        }
        return nil
    }
}
