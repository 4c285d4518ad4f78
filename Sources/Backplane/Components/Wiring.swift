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
