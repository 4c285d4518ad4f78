extension ELFImage {
    /// Checks that the system's loader stays inside the library.
    ///
    /// The loader trusts these tables: an address outside the library makes it, or the code that it prepared, read and
    /// write other memory. Whether that crashes the process depends on the contents of that memory, so trying the
    /// library in another process proves nothing.
    ///
    /// This takes time linear in the size of the file.
    ///
    /// - Throws: ``Defect/misleading(_:)``, or ``Defect/damaged(_:)`` for a missing table.
    package func requireLoadable() throws(Defect) {
        let tables = try ELFLoaderTables(self)
        try tables.checkSegments()
        let symbols = try tables.symbols()
        try tables.checkSymbols(symbols)
        try tables.checkVersions(symbols)
        try tables.checkRelocations(symbols)
    }
}

/// The tables of an image that the loader follows without checks, in the memory where it finds them.
struct ELFLoaderTables {
    typealias Segment = ELFImage.Segment
    typealias Tag = ELFDynamicSection.Tag

    let reader: ELFReader
    let segments: [Segment]
    let memory: ELFMemory
    let dynamic: ELFDynamicSection
    /// The table of names, which ends with a zero.
    let names: Range<Int>

    init(_ image: ELFImage) throws(ELFImage.Defect) {
        reader = ELFReader(image.bytes)
        segments = try image.segments()
        memory = try ELFMemory(segments)
        dynamic = try ELFDynamicSection(segments, reader)
        guard let segment = dynamic.segment else { throw .misleading("it has no dynamic section") }
        _ = try memory.bytes(at: segment.address, UInt64(segment.range.count), "the dynamic section")
        guard dynamic.hasEnd else { throw .misleading("the dynamic section has no end") }
        names = try memory.bytes(
            at: Self.require(Tag.texts, "table of names", dynamic),
            Self.require(Tag.textsSize, "size of its table of names", dynamic), "the table of names")
        guard image.bytes.withBytes(in: names, { $0.last }) == 0 else {
            throw .misleading("the table of names has no end")
        }
        let named = [Tag.needed, Tag.name, Tag.path, Tag.runPath, Tag.auxiliary, Tag.filter]
        for entry in dynamic.entries where named.contains(entry.tag) {
            try requireName(entry.value, "a library's name")
        }
    }

    /// Checks that a name begins in the table of names.
    func requireName(_ offset: UInt64, _ what: @autoclosure () -> String) throws(ELFImage.Defect) {
        guard offset < UInt64(names.count) else { throw .misleading("\(what()) lies outside the table of names") }
    }

    /// Returns the value of a tag that must be present.
    func require(_ tag: UInt64, _ what: String) throws(ELFImage.Defect) -> UInt64 {
        try Self.require(tag, what, dynamic)
    }

    private static func require(_ tag: UInt64, _ what: String, _ dynamic: ELFDynamicSection) throws(ELFImage.Defect)
        -> UInt64
    {
        guard let value = dynamic[tag] else { throw .misleading("it has no \(what)") }
        return value
    }

    /// Checks that a tag has the only value that the loader supports; with any other value, it terminates the process.
    func require(_ tag: UInt64, is value: UInt64, _ what: String) throws(ELFImage.Defect) {
        let found = try require(tag, what)
        guard found == value else { throw .misleading("the \(what) is \(found), and the loader knows only \(value)") }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a little-endian number of untrusted bytes; the caller has checked the offset.
    func number<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type = Number.self) -> Number {
        Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}
