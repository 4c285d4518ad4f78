/// The input or output of a method that has none: JSON `null`.
public struct Nothing: Sendable, Equatable {
    /// Creates the only value.
    public init() {}
}

extension Nothing: Codable {
    /// Decodes `null`.
    ///
    /// - Throws: `DecodingError.typeMismatch` for any other value.
    public init(from decoder: any Decoder) throws {
        guard try decoder.singleValueContainer().decodeNil() else {
            throw DecodingError.typeMismatch(
                Nothing.self,
                .init(codingPath: decoder.codingPath, debugDescription: "expected null, the only value of `Nothing`"))
        }
    }

    /// Encodes `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}
