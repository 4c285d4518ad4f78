package import Backplane

extension ContractLayout {
    /// Calls a function with every declared type; those in a name's arguments precede it, and those of its members
    /// follow it.
    package func forEachDeclaration(_ body: (TypeLayout.Declaration) -> Void) {
        for case .type(let type) in entries.lazy.map(\.layout) { type.forEachDeclaration(body) }
    }
}

extension TypeLayout {
    fileprivate func forEachDeclaration(_ body: (Declaration) -> Void) {
        switch self {
        case .standard(_, let arguments): for argument in arguments { argument.forEachDeclaration(body) }
        case .tuple(_, let elements): for element in elements { element.type.forEachDeclaration(body) }
        case .reference: break
        case .declared(let declaration):
            for argument in declaration.name.components.lazy.flatMap(\.arguments) { argument.forEachDeclaration(body) }
            body(declaration)
            declaration.rawType?.forEachDeclaration(body)
            for case let type? in declaration.members.lazy.map(\.type) { type.forEachDeclaration(body) }
        }
    }
}
