/// A type as the compiler mangled it: text with references to descriptors in it.
///
/// Only types of the standard library are named by text alone. A name would be looked up in the whole process, and might find
/// another library's copy of the type; a reference leads to this one's.
struct MangledName {
    private let address: UnsafeRawPointer
    private let length: Int

    /// `nil`: longer than any that is meant.
    init?(_ address: UnsafeRawPointer) {
        var length = 0
        while case let byte = (address + length).load(as: UInt8.self), byte != 0 {
            // A reference is a byte that says of what and a relative offset, or a whole pointer.
            length += byte <= 0x17 ? 5 : byte <= 0x1F ? 9 : 1
            guard length < 1 << 20 else { return nil }
        }
        (self.address, self.length) = (address, length)
    }

    /// The type, in the place of the type whose field it is.
    func type(in metadata: TypeMetadata) -> Any.Type? {
        _getTypeByMangledNameInContext(
            address.assumingMemoryBound(to: UInt8.self), UInt(length), genericContext: metadata.descriptor.address,
            genericArguments: metadata.genericArguments)
    }

    /// The declaration that it begins with; `nil` for the few of the standard library that have short names of their own.
    var declaration: ContextDescriptor? {
        switch address.load(as: UInt8.self) {
        case 0x01: (address + 1).relative.map(ContextDescriptor.init)
        case 0x02: (address + 1).relative.flatMap { $0.load(as: UnsafeRawPointer?.self) }.map(ContextDescriptor.init)
        default: nil
        }
    }

    /// The text of a name that begins with no reference.
    var text: String { address.name }
}
