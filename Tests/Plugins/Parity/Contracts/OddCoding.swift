/// Codes less than it holds.
public struct Forgetful: Codable, Sendable, Hashable {
    public var kept: Int
    public var dropped = 0
    private enum CodingKeys: CodingKey { case kept }

    public init(kept: Int, dropped: Int) { (self.kept, self.dropped) = (kept, dropped) }
}

/// Looks at itself only when it is decoded.
public struct Strict: Codable, Sendable, Hashable {
    public var percent: Int

    public init(unchecked percent: Int) { self.percent = percent }

    public init(from decoder: any Decoder) throws {
        percent = try decoder.singleValueContainer().decode(Int.self)
        guard (0...100).contains(percent) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "\(percent) is no percentage"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(percent)
    }
}
