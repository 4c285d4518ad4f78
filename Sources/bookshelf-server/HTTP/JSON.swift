#if Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// The maximum size of a JSON body, in bytes.
    static let maximumJSONSize = 16 * 1024

    /// Reads the whole body as JSON.
    ///
    /// - Throws: ``Failure`` if the body does not decode, or `NIOTooManyBytesError` if it is too large.
    func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        let body = try await body.collect(upTo: Self.maximumJSONSize)
        do {
            return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
        } catch {
            throw Failure(.badRequest, "body.invalid", "The body is not the expected JSON.")
        }
    }
}

extension Response {
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) throws
        -> Response
    {
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: try encoded(value)))
    }

    /// Returns JSON with its entity tag, or 304 without a body if the client already has it.
    static func taggedJSON(_ value: some Encodable, for request: Request, cacheControl: String = "no-cache") throws
        -> Response
    {
        tagged(try encoded(value), type: "application/json; charset=utf-8", for: request, cacheControl: cacheControl)
    }

    static func tagged(_ bytes: ByteBuffer, type: String, for request: Request, cacheControl: String) -> Response {
        let tag = EntityTag(of: bytes.readableBytesView)
        let headers: HTTPFields = [.eTag: tag.description, .cacheControl: cacheControl]
        if tag.isKnown(to: request) { return Response(status: .notModified, headers: headers) }
        var response = Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
        response.headers[.contentType] = type
        return response
    }

    /// Encodes a value with sorted keys, so that equal values have equal entity tags.
    private static func encoded(_ value: some Encodable) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(value))
    }
}
#endif
