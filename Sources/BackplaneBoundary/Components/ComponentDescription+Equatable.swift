package import Backplane

// Written by hand, because synthesis beside the types would add the conformances to every plugin, which compares none.

extension ComponentDescription: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.role, a.className, a.version, a.contract) == (b.role, b.className, b.version, b.contract)
            && (a.wires, a.isExclusive, a.restartsOnSwap, a.state) == (
                b.wires, b.isExclusive, b.restartsOnSwap, b.state
            )
    }
}

extension StateDescription: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.schema, a.version, a.accepts, a.writes) == (b.schema, b.version, b.accepts, b.writes)
    }
}

extension ContractDescription: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.name, a.version, a.methods) == (b.name, b.version, b.methods)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(version)
        hasher.combine(methods)
    }
}

extension MethodDescription: Hashable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.name, a.kind) == (b.name, b.kind)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(kind.rawValue)
    }
}

extension MethodKind: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }
}

extension WireDescription: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.label, a.isOptional, a.contract) == (b.label, b.isOptional, b.contract)
    }
}
