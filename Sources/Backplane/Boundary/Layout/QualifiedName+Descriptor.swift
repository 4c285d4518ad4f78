extension TypeLayout.QualifiedName {
    /// The name of a type by where it is declared. Whether that is in the type around it or in an extension in the same
    /// module makes no difference; which file a private type is in cannot be seen.
    ///
    /// - Parameter arguments: what the generic parameters stand for, those of the types around it first.
    /// - Returns: `nil` when it is declared in something unknown.
    init?(of descriptor: ContextDescriptor, arguments: [TypeLayout]) {
        let kind = descriptor.kind
        if case .other = kind { return nil }
        guard let parent = descriptor.parent else {
            guard case .module = kind else { return nil }
            self.init(components: [Component(.name(descriptor.name))])
            return
        }
        let around: ContextDescriptor = switch kind {
        case .extension: descriptor.extendedType?.declaration ?? parent
        default: parent
        }
        let inherited = min(around.parameterCount, arguments.count)
        guard var name = Self(of: around, arguments: Array(arguments.prefix(inherited))) else { return nil }
        switch kind {
        case .anonymous:
            // A local type has several around it.
            if name.components.last?.isHidden != true { name.components.append(Component(.hidden)) }
        case .extension:
            guard let extended = descriptor.extendedType else { return nil }
            if let declaration = extended.declaration {
                if declaration.module != parent.name { name.components.append(Component(.extension(in: parent.name))) }
            } else {
                // One of the standard library's with a short name, such as `SS`: mangled text without references.
                name.components = [Component(.name("Swift")), Component(.name(extended.text)), Component(.extension(in: parent.name))]
            }
        case .module, .protocol, .class, .structure, .enumeration, .other:
            name.components.append(Component(.name(descriptor.name)))
        }
        name.components[name.components.count - 1].arguments += arguments.dropFirst(inherited)
        self = name
    }
}

extension TypeLayout.QualifiedName.Component {
    fileprivate var isHidden: Bool {
        if case .hidden = label { true } else { false }
    }
}
