public import Backplane
import FoundationEssentials

/// An error type into which the bodies of responses with an invalid status are decoded.
///
/// ```swift
/// struct Refusal: ComponentError, Decodable {
///     var code, message: String
/// }
/// http.defaults.failure = .decoded(Refusal.self)
/// ```
///
/// The error `network.status` then has its code, message and details, which pass through wires: a caller compares
/// `error.failure?.code`.
public struct EndpointFailure: Sendable {
    let decode: @Sendable ([UInt8], any ResponseDecoder) throws -> any ComponentError

    /// Returns the rule that decodes a type; a body that cannot be decoded leaves the error unchanged.
    public static func decoded<Failure: ComponentError & Decodable>(_ type: Failure.Type) -> EndpointFailure {
        EndpointFailure { body, decoder in try decoder.decode(Failure.self, from: Data(body)) }
    }
}
