import Backplane

// By hand, since synthesised keys would add ten conformances to every plugin (``TextKey``).

extension CollectionChange: Codable {
    /// Decodes a change from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        number = try values.decode(Int64.self, forKey: .number)
        kind = try values.decode(CollectionChangeKind.self, forKey: .kind)
        id = try values.decode(String.self, forKey: .id)
        record = try values.decodeIfPresent(R.self, forKey: .record)
    }

    /// Encodes a change as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(number, forKey: .number)
        try values.encode(kind, forKey: .kind)
        try values.encode(id, forKey: .id)
        try values.encodeIfPresent(record, forKey: .record)
    }
}

extension ChangesSince: Codable {
    /// Decodes the position from an object with its properties.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        number = try values.decode(Int64.self, forKey: .number)
    }

    /// Encodes the position as an object with its properties.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(number, forKey: .number)
    }
}

extension TextKey {
    fileprivate static let number = TextKey("number")
    fileprivate static let kind = TextKey("kind")
    fileprivate static let id = TextKey("id")
    fileprivate static let record = TextKey("record")
}
