/// A component's collaborators: a struct of ``Wire``s, complete before the component is made.
///
/// ```swift
/// struct Wires: Wiring {
///     let dataAccessController: Wire<Books>
///     let communicationController: Wire<LibraryNetwork>
///     let clock: Wire<WallTime>?               // a name under the manifest's `uses`
/// }
/// ```
///
/// The SDK runs the decoding initialiser that the compiler writes: once to learn what is asked for, and once for every
/// component to fill it in.
public protocol Wiring: Decodable, Sendable {}

/// The wires of a component without collaborators.
public struct NoWires: Wiring {
    public init() {}
    public init(from decoder: any Decoder) {}
}

extension Wire: Decodable {
    /// Wires are made by the SDK; there is nothing to decode them from.
    public init(from decoder: any Decoder) throws {
        guard let source = decoder as? WireSource, let label = decoder.codingPath.last?.stringValue else {
            throw BackplaneError(.wireUnknown, "a Wire<\(C.name)> can only be a property of a Wiring")
        }
        self.init(try source.slot(for: label, C.self))
    }
}

extension Wiring {
    /// What the type asks for.
    static func declared(_ contracts: ContractRecords) throws -> [DeclaredWire] {
        let source = WireSource(recordingWith: contracts)
        _ = try Self(from: source)
        return source.declared
    }

    /// A value with these slots, each with its label.
    static func connected(to slots: [(label: String, slot: Slot)]) throws -> Self {
        try Self(from: WireSource(slots: slots))
    }
}
