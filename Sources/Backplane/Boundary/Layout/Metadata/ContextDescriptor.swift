/// A declaration as the compiler left it in the program: a module, a type, an extension, or something around a type.
struct ContextDescriptor {
    let address: UnsafeRawPointer

    enum Kind: UInt32 {
        case module = 0, `extension` = 1
        /// What makes the types in it private or local; it has no name.
        case anonymous = 2
        case `protocol` = 3, `class` = 16, structure = 17, enumeration = 18
    }

    private var flags: UInt32 { address.load(as: UInt32.self) }

    /// `nil`: a kind that does not occur around the types of contracts.
    var kind: Kind? { Kind(rawValue: flags & 0x1F) }

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
        return kind == .enumeration ? first & 0xFF_FFFF + Int((address + 24).load(as: UInt32.self)) : first
    }

    /// Where the record of its generic parameters is, if it has any.
    private var generics: UnsafeRawPointer? {
        guard flags & 0x80 != 0 else { return nil }
        switch kind {
        case .anonymous: return address + 8
        case .extension: return address + 12
        case .structure, .enumeration: return address + 36
        case .class: return address + 52
        case .module, .protocol, nil: return nil
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
        return context.kind == .module ? context.name : ""
    }
}
