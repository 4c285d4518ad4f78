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
