import Backplane

/// The names of a text's types in messages.
struct LayoutNames {
    private struct Name {
        var short = "", long = ""
    }

    /// The names by number.
    ///
    /// Each name is created once and limited in length, because a text is not trusted.
    private var declared: [Int: Name] = [:]

    init(_ layout: ContractLayout) {
        layout.forEachDeclaration { declaration in
            declared[declaration.number] = Name(
                short: name(of: declaration.name, isQualified: false).cut,
                long: name(of: declaration.name, isQualified: true).cut)
        }
    }

    /// Returns a type's name as spelled in messages.
    ///
    /// - Parameter isQualified: A Boolean value that indicates whether the name includes the module and the enclosing
    ///   types.
    func name(of type: TypeLayout, isQualified: Bool = false) -> String {
        switch type {
        case .standard(let name, let arguments): name + list(arguments, isQualified)
        case .tuple(_, let elements):
            "("
                + elements.map { ($0.label.map { "\($0): " } ?? "") + name(of: $0.type, isQualified: isQualified) }
                .joined(separator: ", ") + ")"
        case .declared(let declaration): name(ofNumber: declaration.number, isQualified)
        case .reference(let number): name(ofNumber: number, isQualified)
        }
    }

    func name(of declaration: TypeLayout.Declaration) -> String { name(ofNumber: declaration.number, false) }

    private func name(ofNumber number: Int, _ isQualified: Bool) -> String {
        guard let name = declared[number] else { return "#\(number)" }
        return isQualified ? name.long : name.short
    }

    private func name(of name: TypeLayout.QualifiedName, isQualified: Bool) -> String {
        let parts = name.components.enumerated().compactMap { index, component -> String? in
            let arguments = list(component.arguments, isQualified)
            switch component.label {
            case .name(let name): return index == 0 && !isQualified ? nil : name + arguments
            case .hidden: return isQualified ? "(private)" : nil
            case .extension(let module): return isQualified ? "(in \(module))\(arguments)" : nil
            }
        }
        return parts.joined(separator: ".")
    }

    private func list(_ arguments: [TypeLayout], _ isQualified: Bool) -> String {
        arguments.isEmpty
            ? "" : "<" + arguments.map { name(of: $0, isQualified: isQualified) }.joined(separator: ", ") + ">"
    }

    /// Returns two types in quotes, by their short names if those differ.
    static func distinct(_ user: LayoutNames, _ a: TypeLayout, _ provider: LayoutNames, _ b: TypeLayout) -> (
        user: String, provider: String
    ) {
        let short = (user.name(of: a), provider.name(of: b))
        if short.0 != short.1 { return ("`\(short.0)`", "`\(short.1)`") }
        let long = (user.name(of: a, isQualified: true), provider.name(of: b, isQualified: true))
        return long.0 != long.1 ? ("`\(long.0)`", "`\(long.1)`") : ("`\(short.0)`", "another `\(short.1)`")
    }
}
