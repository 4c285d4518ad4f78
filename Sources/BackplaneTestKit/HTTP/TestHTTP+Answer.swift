import Backplane
public import BackplaneNetwork
import FoundationEssentials

extension TestHTTP {
    /// What a test lets a server answer.
    public struct Answer: Sendable {
        let make: @Sendable (HTTPRequest) async throws -> HTTPResponse

        /// One that is made of the request when it comes.
        public init(_ make: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.make = make }

        /// The same, once the request has been let through a gate.
        public func held(at gate: TestGate) -> Self {
            Self { request in
                try await gate.pass()
                return try await make(request)
            }
        }
    }
}

extension TestHTTP.Answer {
    public static func response(_ response: HTTPResponse) -> Self {
        Self { _ in response }
    }

    public static func status(_ status: Int, headers: HTTPHeaders = [:], text: String = "") -> Self {
        response(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    /// JSON as it is written here.
    public static func json(text: String, status: Int = 200) -> Self {
        .status(status, headers: ["Content-Type": "application/json"], text: text)
    }

    /// A value as JSON.
    public static func json(_ value: some Encodable & Sendable, status: Int = 200) -> Self {
        Self { _ in
            HTTPResponse(status: status, headers: ["Content-Type": "application/json"], body: Array(try JSONEncoder().encode(value)))
        }
    }

    /// No response at all, but an error.
    public static func failure(_ error: any Error & Sendable) -> Self {
        Self { _ in throw error }
    }

    /// No response at all, as from a server that does not run.
    public static var noConnection: Self {
        Self { request in
            throw BackplaneError(.networkFailed, "the test lets no connection through", at: request.printableURL)
        }
    }
}
