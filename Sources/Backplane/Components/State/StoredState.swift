/// A state of another version, for a migration to decode as what it was.
public struct StoredState: Sendable {
    /// JSON.
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A state as other code would have exported it, for the test of a migration.
    ///
    /// - Throws: `state.incompatible` for what cannot be encoded.
    public init(encoding state: some Encodable) throws(BackplaneError) {
        bytes = try JSON.encode(state, failing: .stateIncompatible)
    }

    /// The state as a type of that time.
    ///
    /// - Throws: `state.incompatible`, located at the value that does not fit.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(BackplaneError) -> Value {
        try JSON.decode(type, bytes, failing: .stateIncompatible)
    }
}
