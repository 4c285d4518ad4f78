extension BackplaneError: Codable {
    /// Decodes an object with a `code`; every other key is optional.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        self.init(
            Code(rawValue: try container.decode(String.self, forKey: .code)),
            try container.decodeIfPresent(String.self, forKey: .message) ?? "",
            at: try container.decodeIfPresent(String.self, forKey: .location),
            failure: try Failure(ifIn: container),
            causes: try container.decodeIfPresent([BackplaneError].self, forKey: .causes) ?? [])
        calls = try container.decodeIfPresent([String].self, forKey: .calls) ?? []
    }

    /// Encodes an object with `code` and `message`, and with `location`, `failure`, `causes` and `calls` where present.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encodeIfPresent(location, forKey: .location)
        try failure?.encode(in: &container)
        if !causes.isEmpty { try container.encode(causes, forKey: .causes) }
        if !calls.isEmpty { try container.encode(calls, forKey: .calls) }
    }
}

extension BackplaneError.Failure {
    /// Decodes the failure; `nil` for an error without one.
    fileprivate init?(ifIn error: KeyedDecodingContainer<TextKey>) throws {
        guard error.contains(.failure), try !error.decodeNil(forKey: .failure) else { return nil }
        let container = try error.nestedContainer(keyedBy: TextKey.self, forKey: .failure)
        self.init(
            code: try container.decode(String.self, forKey: .code),
            details: try container.decode([String: String].self, forKey: .details))
    }

    fileprivate func encode(in error: inout KeyedEncodingContainer<TextKey>) throws {
        var container = error.nestedContainer(keyedBy: TextKey.self, forKey: .failure)
        try container.encode(code, forKey: .code)
        try container.encode(details, forKey: .details)
    }
}

extension TextKey {
    fileprivate static let code = TextKey("code")
    fileprivate static let message = TextKey("message")
    fileprivate static let location = TextKey("location")
    fileprivate static let failure = TextKey("failure")
    fileprivate static let causes = TextKey("causes")
    fileprivate static let calls = TextKey("calls")
    fileprivate static let details = TextKey("details")
}
