/// The runtime's information about a type, read from its metadata.
///
/// Offsets follow the 64-bit layout in the Swift project's `ABI/Metadata.h`. Unknown kinds of types are reported as
/// such, not guessed.
struct TypeMetadata {
    let address: UnsafeRawPointer

    init(_ type: Any.Type) {
        // An `Any.Type` is one word, the address of the type's metadata, and the standard library has no public
        // function that returns it.
        address = unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    enum Kind {
        case structure, enumeration, tuple
        /// Any other kind, with its description for a sentence: "a class".
        case other(String)
    }

    var kind: Kind {
        switch address.load(as: UInt.self) {
        case 0x200: .structure
        case 0x201, 0x202: .enumeration
        case 0x301: .tuple
        // On platforms with Objective-C classes, the word is a pointer to a metaclass.
        case 0, 0x203, 0x204, 0x800...: .other("a class")
        case 0x302: .other("a function")
        case 0x303, 0x307: .other("an existential type")
        case 0x304, 0x306: .other("a metatype")
        case let word: .other("a type of the unknown kind 0x\(String(word, radix: 16))")
        }
    }

    /// The table beside every type's metadata, which describes how values are stored and copied.
    private var valueWitnesses: UnsafeRawPointer { (address - 8).load(as: UnsafeRawPointer.self) }
    private var flags: UInt32 { (valueWitnesses + 80).load(as: UInt32.self) }

    /// The size, alignment and stride of a value in bytes, and the number of its spare bit patterns.
    ///
    /// Spare bit patterns are not values of the type, so an enum that contains the type can use them.
    var size: String {
        let size = (valueWitnesses + 64).load(as: Int.self), stride = (valueWitnesses + 72).load(as: Int.self)
        return "\(size)/\((flags & 0xFF) + 1)/\(stride)/\((valueWitnesses + 84).load(as: UInt32.self))"
    }

    var isCopyable: Bool { flags & 0x80_0000 == 0 }
    var isComplete: Bool { flags & 0x40_0000 == 0 }

    /// The declaration of the type.
    ///
    /// - Precondition: The type is a struct or an enum.
    var descriptor: ContextDescriptor {
        ContextDescriptor(address: (address + 8).load(as: UnsafeRawPointer.self))
    }

    /// The generic arguments of a struct or an enum, and of the enclosing types.
    var genericArguments: UnsafeRawPointer { address + 16 }

    /// Returns the offset of a field in a value, in bytes.
    ///
    /// - Precondition: The type is a struct, and has a field with the index.
    func fieldOffset(_ index: Int) -> Int {
        let offsets = address + 8 * Int((descriptor.address + 24).load(as: UInt32.self))
        return Int((offsets + 4 * index).load(as: UInt32.self))
    }

    func genericArgument(_ index: Int) -> Any.Type {
        (genericArguments + 8 * index).load(as: Any.Type.self)
    }
}

/// Tuples, which have no declaration: their metadata contains the elements.
extension TypeMetadata {
    /// The elements with their labels; `nil` if the labels are malformed.
    ///
    /// - Precondition: The type is a tuple.
    var elements: [(label: String?, type: Any.Type)]? {
        let count = (address + 8).load(as: Int.self)
        guard (0...FieldDescriptor.limit).contains(count) else { return nil }
        var labels = [String?](repeating: nil, count: count)
        if let text = (address + 16).load(as: UnsafePointer<UInt8>?.self) {
            guard let found = Self.labels(in: text, count: count) else { return nil }
            labels = found
        }
        return labels.indices.map { (labels[$0], (address + 24 + 16 * $0).load(as: Any.Type.self)) }
    }

    /// Splits the text of a tuple's labels; `nil` if their number is wrong.
    ///
    /// Every label ends with a space, and an element without one has an empty label.
    private static func labels(in text: UnsafePointer<UInt8>, count: Int) -> [String?]? {
        let labels = String(cString: text).split(separator: " ", omittingEmptySubsequences: false)
        guard labels.count == count + 1, labels[count].isEmpty else { return nil }
        return labels.prefix(count).map { $0.isEmpty ? nil : String($0).identifier }
    }
}

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

    /// The names of the enclosing types and of the type itself, joined by dots; `nil` if any of them is private or in
    /// an extension.
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
        // An enum has two numbers: of cases with a payload, packed with another value, and of cases without a payload.
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

/// The compiler's reflection metadata about the fields of a struct or the cases of an enum.
struct FieldDescriptor {
    let address: UnsafeRawPointer

    /// The maximum number of fields, which exceeds the number in any type that a compiler can process.
    static let limit = 65_535

    struct FieldRecord {
        /// The name in the declaration; for a case, without its payload.
        var name: String
        /// The type of a field or payload; `nil` for a case without a payload.
        var type: MangledName?
        var isIndirect: Bool
    }

    /// The fields or cases; `nil` if this does not describe a struct or an enum.
    ///
    /// Cases with a payload precede cases without a payload, as in memory.
    var records: [FieldRecord]? {
        let kind = (address + 8).load(as: UInt16.self)
        let size = Int((address + 10).load(as: UInt16.self)), count = Int((address + 12).load(as: UInt32.self))
        guard [0, 2, 3].contains(kind), size >= 12, count <= Self.limit else { return nil }
        return (0..<count).map { index in
            let record = address + 16 + index * size
            return FieldRecord(
                name: (record + 8).relative?.name ?? "", type: (record + 4).relative.flatMap(MangledName.init),
                isIndirect: record.load(as: UInt32.self) & 1 != 0)
        }
    }
}

/// The mangled name of a type: text with references to descriptors in it.
///
/// Only types of the standard library are named by text alone. A name would be looked up in the whole process and might
/// resolve to another library's copy of the type; a reference resolves to this library's copy.
struct MangledName {
    private let address: UnsafeRawPointer
    private let length: Int

    /// Reads the name; `nil` if it is unreasonably long.
    init?(_ address: UnsafeRawPointer) {
        var length = 0
        while case let byte = (address + length).load(as: UInt8.self), byte != 0 {
            // A reference is a byte for its kind and a relative offset, or a whole pointer.
            length += byte <= 0x17 ? 5 : byte <= 0x1F ? 9 : 1
            guard length < 1 << 20 else { return nil }
        }
        (self.address, self.length) = (address, length)
    }

    /// Returns the type, in the generic context of the type that contains the field.
    func type(in metadata: TypeMetadata) -> Any.Type? {
        _getTypeByMangledNameInContext(
            address.assumingMemoryBound(to: UInt8.self), UInt(length), genericContext: metadata.descriptor.address,
            genericArguments: metadata.genericArguments)
    }

    /// The declaration at the start of the name; `nil` for the few types of the standard library with short names.
    var declaration: ContextDescriptor? {
        switch address.load(as: UInt8.self) {
        case 0x01: (address + 1).relative.map(ContextDescriptor.init)
        case 0x02: (address + 1).relative.flatMap { $0.load(as: UnsafeRawPointer?.self) }.map(ContextDescriptor.init)
        default: nil
        }
    }

    /// The text of a name that does not start with a reference.
    var text: String { address.name }
}

/// Relative references, as descriptors use them: distances from the reference itself, which need no relocation.
extension UnsafeRawPointer {
    /// The target of the four-byte relative reference at this address.
    var relative: UnsafeRawPointer? {
        let offset = loadUnaligned(as: Int32.self)
        return offset == 0 ? nil : self + Int(offset)
    }

    /// The target of a relative reference that may be indirect.
    ///
    /// An odd distance refers to a pointer, which is needed for a target in another library.
    var relativeIndirectable: UnsafeRawPointer? {
        let offset = loadUnaligned(as: Int32.self)
        guard offset != 0 else { return nil }
        let target = self + Int(offset & ~1)
        return offset & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)
    }

    /// The C string at this address, as an identifier.
    var name: String { String(cString: assumingMemoryBound(to: UInt8.self)).identifier }
}

extension String {
    /// The identifier as the source spells it.
    ///
    /// In metadata, raw identifiers keep their backticks, and some contain other spaces.
    var identifier: String {
        guard count > 2, first == "`", last == "`" else { return self }
        return String(dropFirst().dropLast().map { $0 == "\u{A0}" ? " " : $0 })
    }
}
