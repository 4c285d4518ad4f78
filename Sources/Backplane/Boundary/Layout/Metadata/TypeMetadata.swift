/// The runtime's information about a type, read from its metadata.
///
/// Offsets are those of the 64-bit layout in the Swift project's `ABI/Metadata.h`. Kinds of types that are unknown here
/// are reported as such, not guessed.
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

    var size: TypeSize {
        TypeSize(
            size: (valueWitnesses + 64).load(as: Int.self), alignment: Int(flags & 0xFF) + 1,
            stride: (valueWitnesses + 72).load(as: Int.self), spare: Int((valueWitnesses + 84).load(as: UInt32.self)))
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
    /// - Precondition: The type is a struct, and the index is that of one of its fields.
    func fieldOffset(_ index: Int) -> Int {
        let offsets = address + 8 * Int((descriptor.address + 24).load(as: UInt32.self))
        return Int((offsets + 4 * index).load(as: UInt32.self))
    }

    func genericArgument(_ index: Int) -> Any.Type {
        (genericArguments + 8 * index).load(as: Any.Type.self)
    }
}

/// The memory that a type's values occupy, in bytes.
package struct TypeSize: Sendable {
    package var size, alignment, stride: Int
    /// The number of bit patterns that are not values of the type, so that an enum around it can use them.
    package var spare: Int

    package init(size: Int, alignment: Int, stride: Int, spare: Int) {
        (self.size, self.alignment, self.stride, self.spare) = (size, alignment, stride, spare)
    }
}
