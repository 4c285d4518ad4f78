/// What the runtime knows of a type, read from its metadata.
///
/// Offsets are those of the 64-bit layout in the Swift project's `ABI/Metadata.h`. Nothing here believes that it knows every
/// kind of type: what it does not know it says so of.
struct TypeMetadata {
    let address: UnsafeRawPointer

    init(_ type: Any.Type) {
        address = unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    enum Kind {
        case structure, enumeration, tuple
        /// None of those, and how a sentence calls it: "a class".
        case other(String)
    }

    var kind: Kind {
        switch address.load(as: UInt.self) {
        case 0x200: .structure
        case 0x201, 0x202: .enumeration
        case 0x301: .tuple
        // Where classes may be Objective-C's, the word is a pointer to a metaclass.
        case 0, 0x203, 0x204, 0x800...: .other("a class")
        case 0x302: .other("a function")
        case 0x303, 0x307: .other("an existential type")
        case 0x304, 0x306: .other("a metatype")
        case let word: .other("a type of the unknown kind 0x\(String(word, radix: 16))")
        }
    }

    /// What stands beside every type's metadata: how its values are stored and copied.
    private var valueWitnesses: UnsafeRawPointer { (address - 8).load(as: UnsafeRawPointer.self) }
    private var flags: UInt32 { (valueWitnesses + 80).load(as: UInt32.self) }

    var size: TypeSize {
        TypeSize(
            size: (valueWitnesses + 64).load(as: Int.self), alignment: Int(flags & 0xFF) + 1,
            stride: (valueWitnesses + 72).load(as: Int.self), spare: Int((valueWitnesses + 84).load(as: UInt32.self)))
    }

    var isCopyable: Bool { flags & 0x80_0000 == 0 }
    var isComplete: Bool { flags & 0x40_0000 == 0 }

    /// - Precondition: a struct or an enum.
    var descriptor: ContextDescriptor {
        ContextDescriptor(address: (address + 8).load(as: UnsafeRawPointer.self))
    }

    /// What the parameters of a struct or an enum, and of the types around it, stand for.
    var genericArguments: UnsafeRawPointer { address + 16 }

    /// Where a field lies in a value, in bytes.
    ///
    /// - Precondition: a struct, and one of its fields.
    func fieldOffset(_ index: Int) -> Int {
        let offsets = address + 8 * Int((descriptor.address + 24).load(as: UInt32.self))
        return Int((offsets + 4 * index).load(as: UInt32.self))
    }

    func genericArgument(_ index: Int) -> Any.Type {
        (genericArguments + 8 * index).load(as: Any.Type.self)
    }
}

/// The room that a type's values take, in bytes.
package struct TypeSize: Sendable {
    package var size, alignment, stride: Int
    /// How many bit patterns are no value of the type, so that an enum around it can use them.
    package var spare: Int

    package init(size: Int, alignment: Int, stride: Int, spare: Int) {
        (self.size, self.alignment, self.stride, self.spare) = (size, alignment, stride, spare)
    }
}
