package import Backplane

// A plugin writes layouts and compares none: see `ComponentDescription+Equatable.swift`.

extension ContractLayout: Equatable {
    /// Compares the texts, which are complete.
    package static func == (a: Self, b: Self) -> Bool { a.text == b.text }
}

extension TypeLayout: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.text == b.text }
}

extension ContractLayout.Subject: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.state, .state), (.call, .call), (.failure, .failure): true
        case (.input(let name, let kind), .input(let other, let otherKind)),
            (.output(let name, let kind), .output(let other, let otherKind)):
            name == other && kind == otherKind
        default: false
        }
    }
}

extension LayoutPath: Equatable {
    package static func == (a: Self, b: Self) -> Bool { a.names == b.names && a.isContained == b.isContained }
}

extension TypeSize: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        (a.size, a.alignment, a.stride, a.spare) == (b.size, b.alignment, b.stride, b.spare)
    }
}

extension TypeLayout.QualifiedName.Segment.Label: Equatable {
    package static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.name(let name), .name(let other)), (.extension(let name), .extension(let other)): name == other
        case (.hidden, .hidden): true
        default: false
        }
    }
}
