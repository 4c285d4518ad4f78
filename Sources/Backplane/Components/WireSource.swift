/// The decoder behind ``Wiring``: with slots it creates wires, without slots it records which are declared.
final class WireSource: Decoder {
    // An array: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
    private let slots: [(label: String, slot: Slot)]?
    private let contracts: ContractRecords
    private(set) var declared: [DeclaredWire] = []
    fileprivate(set) var codingPath: [any CodingKey] = []
    fileprivate var decodesOptional = false
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(recordingWith contracts: ContractRecords) { (slots, self.contracts) = (nil, contracts) }
    init(slots: [(label: String, slot: Slot)]) { (self.slots, contracts) = (slots, ContractRecords()) }

    func slot<C: Contract>(for label: String, _: C.Type) throws -> Slot {
        guard let slots else {
            declared.append(DeclaredWire(label: label, isOptional: decodesOptional, contracts.record(of: C.self)))
            return .closed
        }
        guard let slot = slots.first(where: { $0.label == label })?.slot else {
            throw BackplaneError(
                .wireUnsatisfied, "the wire `\(label)` is not connected; it needs a provider of \(C.name)")
        }
        return slot
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Keyed<Key>(source: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw notAWire }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw notAWire }

    fileprivate var notAWire: BackplaneError {
        BackplaneError(
            .wireUnknown,
            "`\(codingPath.map(\.stringValue).joined(separator: "."))` is not a Wire; a Wiring cannot have other properties"
        )
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let source: WireSource
        var codingPath: [any CodingKey] { source.codingPath }
        var allKeys: [Key] { (source.slots ?? []).compactMap { Key(stringValue: $0.label) } }

        func contains(_ key: Key) -> Bool { source.slots.map { $0.contains { $0.label == key.stringValue } } ?? true }
        func decodeNil(forKey key: Key) -> Bool { !contains(key) }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            source.codingPath.append(key)
            defer { source.codingPath.removeLast() }
            return try T(from: source)
        }

        func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
            guard contains(key) else { return nil }
            source.decodesOptional = true
            defer { source.decodesOptional = false }
            return try decode(type, forKey: key)
        }

        func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
            throw source.notAWire
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw source.notAWire }
        func superDecoder() throws -> any Decoder { throw source.notAWire }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw source.notAWire }
    }
}
