/// The compiler's descriptor of a declaration: a module, a type, an extension, or an enclosing context.
struct ContextDescriptor {
    let address: UnsafeRawPointer

    enum Kind {
        case module, `extension`
        /// A context without a name, which makes its types private or local.
        case anonymous
        case `protocol`, `class`, structure, enumeration
        /// A kind that does not occur around the types of contracts.
        case other(UInt32)
    }

    private var flags: UInt32 { address.load(as: UInt32.self) }

    var kind: Kind {
        switch flags & 0x1F {
        case 0: .module
        case 1: .extension
        case 2: .anonymous
        case 3: .protocol
        case 16: .class
        case 17: .structure
        case 18: .enumeration
        case let number: .other(number)
        }
    }

    var isEnumeration: Bool {
        if case .enumeration = kind { true } else { false }
    }

    /// The enclosing declaration; `nil` for a module.
    var parent: ContextDescriptor? {
        (address + 4).relativeIndirectable.map(ContextDescriptor.init)
    }

    /// The name of the declaration.
    ///
    /// - Precondition: The declaration is neither an extension nor anonymous.
    var name: String {
        (address + 8).relative?.name ?? ""
    }

    /// The names of the enclosing types and its own, joined by dots; `nil` if any of them is private or in an
    /// extension.
    var nameInModule: String? {
        switch (kind, parent) {
        case (.module, _): ""
        case (.protocol, let parent?), (.class, let parent?), (.structure, let parent?), (.enumeration, let parent?):
            parent.nameInModule.map { $0.isEmpty ? name : "\($0).\(name)" }
        default: nil
        }
    }

    /// The type that an extension adds members to.
    ///
    /// - Precondition: The declaration is an extension.
    var extendedType: MangledName? {
        (address + 8).relative.flatMap(MangledName.init)
    }

    /// The fields or cases of the type.
    ///
    /// - Precondition: The declaration is a struct or an enum.
    var fields: FieldDescriptor? {
        (address + 16).relative.map(FieldDescriptor.init)
    }

    /// The number of fields or cases that the descriptor itself states.
    ///
    /// - Precondition: The declaration is a struct or an enum.
    var memberCount: Int {
        let first = Int((address + 20).load(as: UInt32.self))
        // An enum has two numbers: of cases with payload, beside another value, and of cases without.
        return isEnumeration ? first & 0xFF_FFFF + Int((address + 24).load(as: UInt32.self)) : first
    }

    /// The record of the generic parameters, if there are any.
    private var generics: UnsafeRawPointer? {
        guard flags & 0x80 != 0 else { return nil }
        switch kind {
        case .anonymous: return address + 8
        case .extension: return address + 12
        case .structure, .enumeration: return address + 36
        case .class: return address + 52
        case .module, .protocol, .other: return nil
        }
    }

    /// The number of generic parameters, including those of all enclosing declarations.
    var parameterCount: Int {
        generics.map { Int($0.load(as: UInt16.self)) } ?? 0
    }

    /// A Boolean value that indicates whether all generic parameters are plain types in the metadata.
    ///
    /// Packs, values, and parameters fixed by an extension's `where` clause are not plain.
    var hasPlainParameters: Bool {
        guard let generics else { return true }
        return (0..<parameterCount).allSatisfy { (generics + 8 + $0).load(as: UInt8.self) == 0x80 }
    }

    /// The name of the module that contains the declaration.
    var module: String {
        var context = self
        while let parent = context.parent { context = parent }
        return if case .module = context.kind { context.name } else { "" }
    }
}
