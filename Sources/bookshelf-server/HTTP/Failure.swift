#if Engines
import Foundation
import Hummingbird

/// An error that is sent to the client as `{"error": code, "message": sentence}`.
struct Failure: Error, Hashable {
    var status: HTTPResponse.Status
    /// A stable identifier of the reason, such as `book.unknown`.
    var code: String
    var message: String
    var headers = HTTPFields()

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:]) {
        (self.status, self.code, self.message, self.headers) = (status, code, message, headers)
    }

    var response: Response {
        get throws {
            struct Body: Encodable {
                var error: String
                var message: String
            }
            var response = try Response.json(Body(error: code, message: message), status: status)
            response.headers[.cacheControl] = "no-store"
            for field in headers { response.headers[field.name] = field.value }
            return response
        }
    }
}

extension Failure {
    static func unknownBook(_ id: String) -> Failure {
        Failure(.notFound, "book.unknown", "There is no book `\(id)` in the catalogue.")
    }

    static func unauthorized(_ code: String, _ message: String) -> Failure {
        Failure(.unauthorized, code, message, headers: [.wwwAuthenticate: "Bearer"])
    }
}
#endif
