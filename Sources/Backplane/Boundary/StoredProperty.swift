/// A stored property of a contract, as the compiler left it in the program.
struct StoredProperty {
    var label: String
    /// `nil`: it is something else than a method.
    var member: DeclaredMember?

    /// Those of a struct in the order they are declared; none of anything else.
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

    /// Whether it is the declaration that all methods, whatever they take and answer, are of. By its name, since to have one of them
    /// the runtime would first look for what its types conform to.
    private static func isMethod(_ declaration: ContextDescriptor) -> Bool {
        guard case .structure = declaration.kind, declaration.name == "AsyncMethod" || declaration.name == "SyncMethod" else { return false }
        return declaration.module == module
    }

    private static let module = TypeMetadata(StoredProperty.self).descriptor.module
}
