/// The parts of HTTP that not every executor supports.
///
/// A request that needs a capability that its executor does not declare is refused before anything is sent. The raw
/// values match `BP_EXECUTOR_…` in `backplane.h`.
public struct HTTPCapabilities: OptionSet, Codable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Request bodies from streams, of known and of unknown length.
    public static let streamedUploads = Self(rawValue: 1 << 0)
    /// Decoding of compressed content: `HTTPOptions.decompresses`.
    public static let decompression = Self(rawValue: 1 << 1)
    /// A body with a `GET` or a `HEAD`.
    public static let contentInGET = Self(rawValue: 1 << 2)
    /// TLS roots, a minimum TLS version, a client identity and pins for each exchange: `HTTPOptions.tls`.
    public static let tlsSettings = Self(rawValue: 1 << 3)
    /// Credentials by name: the executor chooses them for the requests that it sends itself, and never sees a secret.
    ///
    /// The host then adds nothing to the request, so `HTTPOptions.credential` also applies to a URL that does not
    /// belong to a server.
    public static let credentialNames = Self(rawValue: 1 << 4)

    static let names: [(capability: HTTPCapabilities, name: String)] = [
        (.streamedUploads, "streamed uploads"), (.decompression, "decompression"), (.contentInGET, "content in GET"),
        (.tlsSettings, "TLS settings"), (.credentialNames, "names of credentials"),
    ]
}

extension HTTPCapabilities: CustomStringConvertible {
    /// The names of the capabilities, separated by commas.
    public var description: String {
        Self.names.filter { contains($0.capability) }.map(\.name).joined(separator: ", ")
    }
}
