/// The parts of HTTP that an executor supports.
///
/// The raw values are those of `BP_EXECUTOR_…` in `backplane.h`.
public struct HTTPCapabilities: OptionSet, Codable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Request bodies from streams, of known and of unknown length.
    public static let streamedUploads = Self(rawValue: 1 << 0)
    /// Trailer fields after a request's body.
    public static let requestTrailers = Self(rawValue: 1 << 1)
    /// Trailer fields after a response's body.
    public static let responseTrailers = Self(rawValue: 1 << 2)
    /// Interim responses, such as 103.
    public static let interimResponses = Self(rawValue: 1 << 3)
    /// Waiting for `100 Continue` before a body is sent.
    public static let expectContinue = Self(rawValue: 1 << 4)
    /// HTTP/2, if the server offers it.
    public static let http2 = Self(rawValue: 1 << 5)
    /// Certificate pinning.
    public static let pins = Self(rawValue: 1 << 6)
    /// Requests through a proxy that the environment defines.
    public static let proxies = Self(rawValue: 1 << 7)
    /// Decoding of compressed content.
    public static let decompression = Self(rawValue: 1 << 8)
    /// Back-pressure: an unread body is not received.
    public static let backPressure = Self(rawValue: 1 << 9)
    /// Fields with the same name that remain separate and in order.
    public static let separateFields = Self(rawValue: 1 << 10)
    /// A body with a `GET` or a `HEAD`.
    public static let contentInGET = Self(rawValue: 1 << 11)
    /// An error, rather than a crash of the process, for a response that is interrupted within its head.
    public static let truncatedHeads = Self(rawValue: 1 << 12)

    /// Trailer fields after a response's body that do no harm, whether or not they are delivered.
    public static let harmlessTrailers = Self(rawValue: 1 << 13)

    /// TLS roots, a minimum TLS version and a client identity for each exchange: `HTTPOptions.tls`.
    public static let tlsSettings = Self(rawValue: 1 << 14)

    /// All defined capabilities.
    public static let all: Self = Self(rawValue: (1 << 15) - 1)

    /// The names used in errors and reports, in order.
    static let names: [(capability: HTTPCapabilities, name: String)] = [
        (.streamedUploads, "streamed uploads"), (.requestTrailers, "request trailers"),
        (.responseTrailers, "response trailers"), (.interimResponses, "interim responses"),
        (.expectContinue, "100-continue"), (.http2, "HTTP/2"), (.pins, "certificate pins"), (.proxies, "proxies"),
        (.decompression, "decompression"), (.backPressure, "back-pressure"), (.separateFields, "separate fields"),
        (.contentInGET, "content in GET"), (.truncatedHeads, "truncated heads"),
        (.harmlessTrailers, "harmless trailers"), (.tlsSettings, "TLS settings"),
    ]
}

extension HTTPCapabilities: CustomStringConvertible {
    /// The names of the capabilities, separated by commas.
    public var description: String {
        Self.names.filter { contains($0.capability) }.map(\.name).joined(separator: ", ")
    }
}
