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
