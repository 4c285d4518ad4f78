public import FoundationEssentials

/// A decoder of response bodies: `JSONDecoder` or a custom decoder.
public protocol ResponseDecoder: Sendable {
    /// Decodes a value from a whole body.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ResponseDecoder {
    /// The decoder for clients and endpoints without one, which is never modified.
    static let unchanged = JSONDecoder()
}

/// A response type that chooses its decoder, regardless of the client's.
///
/// Arrays of it also use that decoder. The decoder of an endpoint takes precedence.
public protocol DecodedResponse: Decodable, Sendable {
    /// The decoder for the format in which servers send this type.
    static var decoder: any ResponseDecoder { get }
}

extension Array: DecodedResponse where Element: DecodedResponse {
    /// The decoder of the elements.
    public static var decoder: any ResponseDecoder { Element.decoder }
}

/// A type that reads its values from whole responses itself, without a decoder.
///
/// ```swift
/// struct Quota: ParsedResponse {
///     var left: Int
///     static func parse(_ response: HTTPResponse) throws -> Quota {
///         Quota(left: response.headers["X-Left"].flatMap { Int($0) } ?? 0)
///     }
/// }
/// ```
public protocol ParsedResponse: Sendable {
    /// Returns the value of a response whose status is valid.
    ///
    /// - Throws: Any error; the load fails with `network.unparsable`.
    static func parse(_ response: HTTPResponse) throws -> Self
}

extension HTTPResponse: ParsedResponse {
    /// Returns the response itself, for an endpoint with an unparsed response.
    public static func parse(_ response: HTTPResponse) -> HTTPResponse { response }
}
