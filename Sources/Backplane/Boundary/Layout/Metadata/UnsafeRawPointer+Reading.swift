/// How descriptors point at each other and at names: by the distance from the pointer itself, so that they need no relocation.
extension UnsafeRawPointer {
    /// What the four bytes here point at.
    var relative: UnsafeRawPointer? {
        let offset = loadUnaligned(as: Int32.self)
        return offset == 0 ? nil : self + Int(offset)
    }

    /// The same where an odd distance leads to a pointer, which the thing pointed at in another library needs.
    var relativeIndirectable: UnsafeRawPointer? {
        let offset = loadUnaligned(as: Int32.self)
        guard offset != 0 else { return nil }
        let target = self + Int(offset & ~1)
        return offset & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)
    }

    /// The C string here, which is an identifier.
    var name: String { String(cString: assumingMemoryBound(to: UInt8.self)).identifier }
}

extension String {
    /// An identifier of the metadata as it reads in the source: raw ones keep their backticks there, and some of them have
    /// other spaces.
    var identifier: String {
        guard count > 2, first == "`", last == "`" else { return self }
        return String(dropFirst().dropLast().map { $0 == "\u{A0}" ? " " : $0 })
    }
}
