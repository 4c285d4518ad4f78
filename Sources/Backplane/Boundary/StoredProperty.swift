/// A stored property of a contract, read from the compiler's reflection metadata.
struct StoredProperty {
    var label: String
    /// The member in the property; `nil` if it is not a method.
    var member: DeclaredMember?

    /// Returns the stored properties of a struct in declaration order; none for any other type.
    static func all<C: Contract>(of contract: C) -> [StoredProperty] {
        let metadata = TypeMetadata(C.self)
        guard case .structure = metadata.kind, let fields = metadata.descriptor.fields?.records else { return [] }
        return withUnsafePointer(to: contract) { contract in
            fields.enumerated().map { index, field in
                let isMethod = field.type?.declaration.map(isMethod) ?? false
                let place = UnsafeRawPointer(contract) + metadata.fieldOffset(index)
                return StoredProperty(label: field.name, member: isMethod ? place.load(as: DeclaredMember.self) : nil)
            }
        }
    }

    /// Returns whether a declaration is one of the method types, judging by its name.
    ///
    /// To create one of these types, the runtime would first look up the conformances of its generic arguments.
    private static func isMethod(_ declaration: ContextDescriptor) -> Bool {
        guard case .structure = declaration.kind else { return false }
        switch declaration.name {
        case "AsyncMethod", "SyncMethod", "StreamMethod": return declaration.module == module
        default: return false
        }
    }

    private static let module = TypeMetadata(StoredProperty.self).descriptor.module
}
