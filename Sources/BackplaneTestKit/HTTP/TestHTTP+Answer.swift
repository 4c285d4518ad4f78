import Backplane
public import BackplaneNetwork
import FoundationEssentials

extension TestHTTP {
    /// An answer that a test defines for requests.
    public struct Answer: Sendable {
        let make: @Sendable (HTTPRequest) async throws -> HTTPResponse

        /// Creates an answer that is computed from each request.
        public init(_ make: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.make = make }

        /// Returns the same answer, delivered once a gate has let the request pass.
        public func held(at gate: TestGate) -> Self {
            Self { request in
                try await gate.pass()
                return try await make(request)
            }
        }
    }
}

extension TestHTTP.Answer {
    /// Returns an answer with a complete response.
    public static func response(_ response: HTTPResponse) -> Self {
        Self { _ in response }
    }

    /// Returns an answer with a status, header fields and a string as its body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:], text: String = "") -> Self {
        response(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    /// Returns an answer with JSON text, unchanged.
    public static func json(text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> Self {
        .status(status, headers: headers.withJSON, text: text)
    }

    /// Returns an answer with a value, encoded as JSON.
    ///
    /// ```swift
    /// http.on("GET", "http://books.test/books", .json(first, headers: .link(next: "/books?page=2")))
    /// ```
    public static func json(
        _ value: some Encodable & Sendable, status: Int = 200, headers: HTTPHeaders = [:]
    ) -> Self {
        Self { _ in
            HTTPResponse(status: status, headers: headers.withJSON, body: Array(try JSONEncoder().encode(value)))
        }
    }

    /// Returns an answer that throws an error instead of a response.
    public static func failure(_ error: any Error & Sendable) -> Self {
        Self { _ in throw error }
    }

    /// An answer that throws `network.failed`, as if the server were not running.
    public static var noConnection: Self {
        Self { request in
            throw BackplaneError(.networkFailed, "the test does not allow connections", at: request.printableURL)
        }
    }
}

extension HTTPHeaders {
    /// Returns a `Link` field to the next page (RFC 8288), which `pages` follows.
    ///
    /// - Parameter url: The URL, which may be relative to the URL of the response.
    public static func link(next url: String) -> HTTPHeaders { ["Link": "<\(url)>; rel=\"next\""] }

    /// The fields with the media type of JSON, unless they have one.
    fileprivate var withJSON: HTTPHeaders {
        guard self["Content-Type"] == nil else { return self }
        var headers = self
        headers.add("Content-Type", "application/json")
        return headers
    }
}
