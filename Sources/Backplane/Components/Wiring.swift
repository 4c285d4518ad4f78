public import FoundationEssentials

/// A component's collaborators: a struct of ``Wire``s, complete before the component is created.
///
/// ```swift
/// struct Wires: Wiring {
///     let dataAccessController: Wire<Books>
///     let communicationController: Wire<LibraryNetwork>
///     let clock: Wire<WallTime>?               // a name under the manifest's `uses`
/// }
/// ```
///
/// The SDK runs the decoding initialiser that the compiler synthesises: once to record which wires are declared, and
/// once per component to create them.
public protocol Wiring: Decodable, Sendable {}

/// The wires of a component without collaborators.
@dynamicMemberLookup
public struct NoWires: Wiring {
    /// Creates the empty wiring.
    public init() {}
    /// Accepts any value and ignores it.
    public init(from decoder: any Decoder) {}

    /// Refuses a wire that was not declared.
    @available(
        *, unavailable,
        message:
            "this component declares no wires: add `struct Wires: Wiring`, with `let name: Wire<Contract>` for each"
    )
    @_documentation(visibility: internal)
    public subscript(dynamicMember name: String) -> UndeclaredMember { UndeclaredMember() }
}

extension Wire: Decodable {
    /// Creates the wire of a ``Wiring``'s property, from the SDK's own decoder.
    ///
    /// - Throws: `wire.unknown` for any other decoder; `wire.unsatisfied` if the property has no slot.
    public init(from decoder: any Decoder) throws {
        guard let source = decoder as? WireSource, let label = decoder.codingPath.last?.stringValue else {
            throw BackplaneError(.wireUnknown, "a Wire<\(C.name)> can only be a property of a Wiring")
        }
        self.init(try source.slot(for: label, C.self))
    }
}

extension Wiring {
    /// Returns the wires that the type declares.
    static func declared(_ contracts: ContractRecords) throws -> [DeclaredWire] {
        let source = WireSource(recordingWith: contracts)
        _ = try Self(from: source)
        return source.declared
    }

    /// Creates a value whose wires are connected to the given slots, by label.
    static func connected(to slots: [(label: String, slot: Slot)]) throws -> Self {
        try Self(from: WireSource(slots: slots))
    }
}

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

/// A value and its source: the network, or a stored copy of an earlier answer.
public struct Sourced<Value: Codable & Sendable>: Sendable {
    /// The origin of a value.
    public enum Source: Sendable, Equatable {
        /// The network: the value is current.
        case network
        /// The store, because the network failed, with the time since the value was stored.
        case store(age: Duration)
    }
    /// The value that the network or the store returned.
    public var value: Value
    /// The origin of ``value``.
    public var source: Source

    /// Creates a value with its source.
    public init(_ value: Value, from source: Source) {
        (self.value, self.source) = (value, source)
    }

    /// Returns a value that is made of this one, with the same source.
    public func map<Other>(_ transform: (Value) throws -> Other) rethrows -> Sourced<Other> {
        let other = try transform(value)
        return switch source {
        case .network: Sourced<Other>(other, from: .network)
        case .store(let age): Sourced<Other>(other, from: .store(age: age))
        }
    }
}

extension Sourced: Equatable where Value: Equatable {}

/// A value and the date at which it was stored, as a data access controller returns it.
public struct Kept<Value: Codable & Sendable>: Sendable {
    /// The stored value.
    public var value: Value
    /// The date at which the value was stored.
    public var date: Date

    /// Creates a stored value.
    public init(_ value: Value, at date: Date = .now) {
        (self.value, self.date) = (value, date)
    }
}

extension Sourced {
    /// Requests a value from the network, and falls back to the stored value.
    ///
    /// - Parameters:
    ///   - call: The call being served. The network request is limited to three quarters of the remaining time, so that
    ///     the stored value can still be fetched if the server is slow.
    ///   - log: The component's log. It receives the network's error when the stored value is returned, and errors of
    ///     the store that do not fail the call.
    ///   - fetch: A function that requests the value from the network, with the call that it receives.
    ///   - keep: A function that stores the fetched value. Even if it fails, the value is returned.
    ///   - kept: A function that returns the stored value, or `nil` if there is none. It is called if `fetch` throws
    ///     any error other than a cancellation.
    /// - Throws: The error of `fetch`, if it was cancelled or there is no stored value.
    public static func networkFirst(
        _ call: Call, log: Log, fetch: (Call) async throws -> Value, keep: (Value) async throws -> Void,
        kept: () async throws -> Kept<Value>?
    ) async throws -> Sourced {
        do {
            let value = try await fetch(call.timeLeft.map { call.within($0 * 3 / 4) } ?? call)
            do { try await keep(value) } catch {
                log.warning("the value of the network was not stored", metadata: ["error": "\(error)"], for: call)
            }
            return Sourced(value, from: .network)
        } catch let error where !error.isCancellation {
            let last: Kept<Value>?
            do { last = try await kept() } catch let second {
                log.warning("the stored value could not be read", metadata: ["error": "\(second)"], for: call)
                throw error
            }
            guard let last else { throw error }
            let age = Duration.clamping(seconds: Date.now.timeIntervalSince(last.date))
            log.warning(
                "the network failed, and the stored value is returned",
                metadata: ["error": "\(error)", "age": "\(age)"], for: call)
            return Sourced(last.value, from: .store(age: age))
        }
    }
}

extension Duration {
    /// Returns a duration in seconds from an untrusted source, clamped to the range from 0 to a thousand million years.
    fileprivate static func clamping(seconds: Double) -> Duration {
        .seconds(seconds > 0 ? min(seconds, 3e16) : 0)
    }
}

extension Error {
    fileprivate var isCancellation: Bool {
        self is CancellationError || (self as? BackplaneError)?.code == .callCancelled
    }
}

extension Sourced: Codable {
    /// Decodes `{"value": …, "source": "network"}` or `{"value": …, "source": "store", "age": seconds}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        value = try container.decode(Value.self, forKey: .value)
        switch try container.decode(String.self, forKey: .source) {
        case "network": source = .network
        case "store": source = .store(age: .clamping(seconds: try container.decode(Double.self, forKey: .age)))
        case let other:
            throw DecodingError.dataCorruptedError(
                forKey: .source, in: container, debugDescription: "expected `network` or `store`, found `\(other)`")
        }
    }

    /// Encodes `{"value": …, "source": "network"}` or `{"value": …, "source": "store", "age": seconds}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(value, forKey: .value)
        switch source {
        case .network:
            try container.encode("network", forKey: .source)
        case .store(let age):
            try container.encode("store", forKey: .source)
            try container.encode(age / .seconds(1), forKey: .age)
        }
    }
}

extension Kept: Codable {
    /// Decodes `{"value": …, "date": …}`, with the date in the decoder's own form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        value = try container.decode(Value.self, forKey: .value)
        date = try container.decode(Date.self, forKey: .date)
    }

    /// Encodes `{"value": …, "date": …}`, with the date in the encoder's own form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(value, forKey: .value)
        try container.encode(date, forKey: .date)
    }
}

extension TextKey {
    fileprivate static let value = TextKey("value")
    fileprivate static let source = TextKey("source")
    fileprivate static let age = TextKey("age")
    fileprivate static let date = TextKey("date")
}
