extension BackplaneError: Codable {
    private enum CodingKeys: String, CodingKey { case code, message, location, failure, causes }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(Code.self, forKey: .code),
            try container.decodeIfPresent(String.self, forKey: .message) ?? "",
            at: try container.decodeIfPresent(String.self, forKey: .location),
            failure: try container.decodeIfPresent(Failure.self, forKey: .failure),
            causes: try container.decodeIfPresent([BackplaneError].self, forKey: .causes) ?? [])
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(location, forKey: .location)
        try container.encodeIfPresent(failure, forKey: .failure)
        if !causes.isEmpty { try container.encode(causes, forKey: .causes) }
    }
}
