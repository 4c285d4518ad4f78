/// The encoder for one position in an argument.
struct NodeEncoder: Encoder {
    let node: ArgumentNode
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.begin(isObject: true)
        return KeyedEncodingContainer(Members<Key>(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.begin(isObject: false)
        return Elements(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(node: node) }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let node: ArgumentNode
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) throws { try node.member(key.stringValue).put(.null) }

        func encode(_ value: some Encodable, forKey key: Key) throws {
            try node.member(key.stringValue).encode(value)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            NodeEncoder(node: node.member(key.stringValue)).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            NodeEncoder(node: node.member(key.stringValue)).unkeyedContainer()
        }

        func superEncoder() -> any Encoder { NodeEncoder(node: node.member("super")) }

        func superEncoder(forKey key: Key) -> any Encoder { NodeEncoder(node: node.member(key.stringValue)) }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let node: ArgumentNode
        var codingPath: [any CodingKey] { [] }
        var count: Int { node.count }

        func encodeNil() throws { try node.element().put(.null) }

        func encode(_ value: some Encodable) throws { try node.element().encode(value) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            NodeEncoder(node: node.element()).container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            NodeEncoder(node: node.element()).unkeyedContainer()
        }

        func superEncoder() -> any Encoder { NodeEncoder(node: node.element()) }
    }

    private struct Single: SingleValueEncodingContainer {
        let node: ArgumentNode
        var codingPath: [any CodingKey] { [] }

        func encodeNil() throws { try node.put(.null) }
        func encode(_ value: some Encodable) throws { try node.encode(value) }
    }
}

extension ArgumentNode {
    /// Encodes a value of a container; scalars are encoded directly, because they would only encode themselves again.
    fileprivate func encode(_ value: some Encodable) throws {
        switch value {
        case let text as String: try put(.text(text))
        case let number as any BinaryInteger: try put(.number("\(number)"))
        case let bool as Bool: try put(.bool(bool))
        case let number as Double: try put(number: number)
        case let number as Float: try put(number: Double("\(number)") ?? Double(number))
        default: try put(value)
        }
    }
}
