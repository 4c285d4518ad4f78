/// A state of another version, which a migration decodes as the type of that version.
public struct StoredState: Sendable {
    /// The state in JSON.
    public let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a state as other code would have exported it, to test a migration.
    ///
    /// - Throws: `state.incompatible` for a value that cannot be encoded.
    public init(encoding state: some Encodable) throws(BackplaneError) {
        bytes = try JSON.encode(state, failing: .stateIncompatible)
    }

    /// Decodes the state as the type from which it was exported.
    ///
    /// - Throws: `state.incompatible`, located at the value that does not match.
    public func decode<Value: Decodable>(_ type: Value.Type) throws(BackplaneError) -> Value {
        try JSON.decode(type, bytes, failing: .stateIncompatible)
    }
}
