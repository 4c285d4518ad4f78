/// A declaration as the compiler left it in the program: a module, a type, an extension, or something around a type.
struct ContextDescriptor {
    let address: UnsafeRawPointer

    enum Kind {
        case module, `extension`
        /// What makes the types in it private or local; it has no name.
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

    /// What it is declared in; `nil` for a module.
    var parent: ContextDescriptor? {
        (address + 4).relativeIndirectable.map(ContextDescriptor.init)
    }

    /// - Precondition: neither an extension nor anonymous.
    var name: String {
        (address + 8).relative?.name ?? ""
    }

    /// The names of the types that it is declared in and its own, joined by points; `nil` where one is in an extension or is private.
    var nameInModule: String? {
        switch (kind, parent) {
        case (.module, _): ""
        case (.protocol, let parent?), (.class, let parent?), (.structure, let parent?), (.enumeration, let parent?):
            parent.nameInModule.map { $0.isEmpty ? name : "\($0).\(name)" }
        default: nil
        }
    }

    /// - Precondition: an extension.
    var extendedType: MangledName? {
        (address + 8).relative.flatMap(MangledName.init)
    }

    /// - Precondition: a struct or an enum.
    var fields: FieldDescriptor? {
        (address + 16).relative.map(FieldDescriptor.init)
    }

    /// How many fields or cases its own record says there are.
    ///
    /// - Precondition: a struct or an enum.
    var memberCount: Int {
        let first = Int((address + 20).load(as: UInt32.self))
        // An enum's says how many cases have payloads, beside something else, and how many have not.
        return isEnumeration ? first & 0xFF_FFFF + Int((address + 24).load(as: UInt32.self)) : first
    }

    /// Where the record of its generic parameters is, if it has any.
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

    /// How many generic parameters it has, those of everything around it included.
    var parameterCount: Int {
        generics.map { Int($0.load(as: UInt16.self)) } ?? 0
    }

    /// Whether all its generic parameters are plain types that its metadata holds: no packs, no values, and none that an
    /// extension's `where` clause has fixed.
    var hasPlainParameters: Bool {
        guard let generics else { return true }
        return (0..<parameterCount).allSatisfy { (generics + 8 + $0).load(as: UInt8.self) == 0x80 }
    }

    /// The module it is declared in.
    var module: String {
        var context = self
        while let parent = context.parent { context = parent }
        return if case .module = context.kind { context.name } else { "" }
    }
}
