/// No input, or no output: JSON `null`.
public struct Nothing: Sendable, Equatable {
    public init() {}
}

extension Nothing: Codable {
    public init(from decoder: any Decoder) throws {
        guard try decoder.singleValueContainer().decodeNil() else {
            throw DecodingError.typeMismatch(
                Nothing.self, .init(codingPath: decoder.codingPath, debugDescription: "expected null: there is nothing to give here"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}
