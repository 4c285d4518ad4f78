public import Backplane

// A plugin compares no slots: see `ComponentDescription+Equatable.swift`.

extension Slot: Hashable {
    @usableFromInline
    package static func == (a: Self, b: Self) -> Bool { a.pointer == b.pointer }
    @usableFromInline
    package func hash(into hasher: inout Hasher) { hasher.combine(pointer) }
}

extension Binding: Hashable {
    package static func == (a: Self, b: Self) -> Bool { a.pointer == b.pointer }
    package func hash(into hasher: inout Hasher) { hasher.combine(pointer) }
}

extension LeaseCounting: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.isRestartable == b.isRestartable }
}
