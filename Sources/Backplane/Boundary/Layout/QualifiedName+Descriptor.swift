extension TypeLayout.QualifiedName {
    /// Creates the name of a type from the location of its declaration.
    ///
    /// It makes no difference whether a type is declared inside the enclosing type or in an extension in the same
    /// module. The file of a private type is not visible.
    ///
    /// - Parameter arguments: The generic arguments, beginning with those of the enclosing types.
    /// - Returns: `nil` if the type is declared in a context of unknown kind.
    init?(of descriptor: ContextDescriptor, arguments: [TypeLayout]) {
        let kind = descriptor.kind
        if case .other = kind { return nil }
        guard let parent = descriptor.parent else {
            guard case .module = kind else { return nil }
            self.init(components: [Segment(.name(descriptor.name))])
            return
        }
        let around: ContextDescriptor =
            switch kind {
            case .extension: descriptor.extendedType?.declaration ?? parent
            default: parent
            }
        let inherited = min(around.parameterCount, arguments.count)
        guard var name = Self(of: around, arguments: Array(arguments.prefix(inherited))) else { return nil }
        switch kind {
        case .anonymous:
            // A local type is inside several of these.
            if name.components.last?.isHidden != true { name.components.append(Segment(.hidden)) }
        case .extension:
            guard let extended = descriptor.extendedType else { return nil }
            if let declaration = extended.declaration {
                if declaration.module != parent.name { name.components.append(Segment(.extension(in: parent.name))) }
            } else {
                // A type of the standard library with a short name, such as `SS`: mangled text without references.
                name.components = [
                    Segment(.name("Swift")), Segment(.name(extended.text)), Segment(.extension(in: parent.name)),
                ]
            }
        case .module, .protocol, .class, .structure, .enumeration, .other:
            name.components.append(Segment(.name(descriptor.name)))
        }
        name.components[name.components.count - 1].arguments += arguments.dropFirst(inherited)
        self = name
    }
}

extension TypeLayout.QualifiedName.Segment {
    fileprivate var isHidden: Bool {
        if case .hidden = label { true } else { false }
    }
}
