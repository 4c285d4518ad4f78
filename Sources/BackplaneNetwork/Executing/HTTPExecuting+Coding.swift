import Backplane

// By hand, since synthesised keys would add eight conformances to every plugin (``TextKey``).

extension HTTPOrder: Codable {
    /// Decodes an order from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        headers = try values.decode([[String]].self, forKey: .headers)
        body = try values.decodeIfPresent(UInt64.self, forKey: .body)
        length = try values.decodeIfPresent(Int64.self, forKey: .length)
        decompresses = try values.decode(Bool.self, forKey: .decompresses)
        response = try values.decode(UInt64.self, forKey: .response)
    }

    /// Encodes an order as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(method, forKey: .method)
        try values.encode(url, forKey: .url)
        try values.encode(headers, forKey: .headers)
        try values.encodeIfPresent(body, forKey: .body)
        try values.encodeIfPresent(length, forKey: .length)
        try values.encode(decompresses, forKey: .decompresses)
        try values.encode(response, forKey: .response)
    }
}

extension HTTPHead: Codable {
    /// Decodes a head from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        status = try values.decode(Int.self, forKey: .status)
        headers = try values.decode([[String]].self, forKey: .headers)
        version = try values.decodeIfPresent(String.self, forKey: .version)
    }

    /// Encodes a head as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(status, forKey: .status)
        try values.encode(headers, forKey: .headers)
        try values.encodeIfPresent(version, forKey: .version)
    }
}

extension TextKey {
    fileprivate static let method = TextKey("method")
    fileprivate static let url = TextKey("url")
    fileprivate static let headers = TextKey("headers")
    fileprivate static let body = TextKey("body")
    fileprivate static let length = TextKey("length")
    fileprivate static let decompresses = TextKey("decompresses")
    fileprivate static let response = TextKey("response")
    fileprivate static let status = TextKey("status")
    fileprivate static let version = TextKey("version")
}
