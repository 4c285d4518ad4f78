/// The layer to which a component belongs, which determines what its context offers.
public enum Role: UInt32, Sendable, Hashable, CaseIterable {
    /// The role that holds business logic.
    case manager = 1
    /// The role that stores data for a manager.
    case dataAccessController
    /// The role that carries out a manager's requests through network services.
    case communicationController
    /// The role that communicates with one endpoint.
    case networkService
}

extension Role: CustomStringConvertible {
    /// The role in lower-case words, such as `data access controller`.
    public var description: String {
        switch self {
        case .manager: "manager"
        case .dataAccessController: "data access controller"
        case .communicationController: "communication controller"
        case .networkService: "network service"
        }
    }
}

/// The description of a component class, which is sufficient to check a manifest without an instance.
///
/// Only the host compares descriptions, and it defines how (`ComponentClass.swift`), so that plugins need no
/// conformances.
package struct ComponentDescription: Sendable {
    package var role: Role
    package var className: String
    package var version: Version
    /// The contract that the component provides; `nil` if it has no methods to call.
    package var contract: ContractDescription?
    package var wires: [WireDescription]
    package var isExclusive: Bool
    package var restartsOnSwap: Bool
    /// The state that a swap carries over; `nil` for a component without state.
    package var state: StateDescription?
    /// The JSON text about the class; `nil` if there is none.
    package var annotation: String?

    package init(
        role: Role, className: String, version: Version, contract: ContractDescription? = nil,
        wires: [WireDescription] = [],
        isExclusive: Bool = false, restartsOnSwap: Bool = false, state: StateDescription? = nil,
        annotation: String? = nil
    ) {
        (self.role, self.className, self.version, self.contract, self.wires) = (
            role, className, version, contract, wires
        )
        (self.isExclusive, self.restartsOnSwap, self.state) = (isExclusive, restartsOnSwap, state)
        self.annotation = annotation
    }
}

/// The name of a component's state, and the versions in which it is read and written.
package struct StateDescription: Sendable {
    package var schema: String
    /// The version that is written unless another is requested.
    package var version: UInt32
    package var accepts: ClosedRange<UInt32>
    /// The versions that can be written; the newest is the default.
    package var writes: ClosedRange<UInt32>

    package init(schema: String, version: UInt32, accepts: ClosedRange<UInt32>, writes: ClosedRange<UInt32>) {
        (self.schema, self.version, self.accepts, self.writes) = (schema, version, accepts, writes)
    }
}

/// A contract's name, its version and its methods in the order of their numbers.
package struct ContractDescription: Sendable {
    package var name: String
    package var version: Version
    package var methods: [MethodDescription]

    package init(name: String, version: Version, methods: [MethodDescription] = []) {
        (self.name, self.version, self.methods) = (name, version, methods)
    }
}

package struct MethodDescription: Sendable {
    package var name: String
    package var kind: MethodKind

    package init(name: String, kind: MethodKind) {
        (self.name, self.kind) = (name, kind)
    }

    package var isSynchronous: Bool { kind.rawValue == MethodKind.sync.rawValue }
    package var isStream: Bool { kind.rawValue == MethodKind.stream.rawValue }
}

/// A collaborator that a component requires.
package struct WireDescription: Sendable {
    package var label: String
    package var isOptional: Bool
    package var contract: ContractDescription

    package init(label: String, isOptional: Bool = false, contract: ContractDescription) {
        (self.label, self.isOptional, self.contract) = (label, isOptional, contract)
    }
}

/// The labels of wires that have keys of their own in a manifest.
package enum ReservedLabel {
    package static let dataAccessController = "dataAccessController"
    package static let communicationController = "communicationController"
}

/// Returns the name of a type as declared.
///
/// `String(describing:)` looks up conformances, and after a library has been loaded, Swift's runtime searches every
/// loaded image for each of them. A plugin has many names.
func typeName(of type: Any.Type) -> String {
    withoutPrivateMarks(_typeName(type, qualified: false))
}

/// Removes the markers of private types, which optimised code names `(Name in _0123456789ABCDEF)` after their file.
func withoutPrivateMarks(_ name: String) -> String {
    var (rest, plain) = (name[...], "")
    while let start = rest.firstIndex(of: "("), let end = rest[start...].firstIndex(of: ")") {
        let words = rest[rest.index(after: start)..<end].split(separator: " ")
        let isMark = words.count == 3 && words[1] == "in" && words[2].hasPrefix("_")
        plain += isMark ? rest[..<start] + words[0] : rest[...end]
        rest = rest[rest.index(after: end)...]
    }
    return plain + rest
}
