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
                let isMethod = field.type?.declaration.map { methods.contains(UInt(bitPattern: $0.address)) } ?? false
                let place = UnsafeRawPointer(contract) + metadata.fieldOffset(index)
                return StoredProperty(label: field.name, member: isMethod ? place.load(as: DeclaredMember.self) : nil)
            }
        }
    }

    /// What all methods, whatever they take and answer, are declared by. Made of a standard type, which the runtime need not look for.
    private static let methods = [AsyncMethod<Int, Int>.self as Any.Type, SyncMethod<Int, Int>.self].map {
        UInt(bitPattern: TypeMetadata($0).descriptor.address)
    }
}
