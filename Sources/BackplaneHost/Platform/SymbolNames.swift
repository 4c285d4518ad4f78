/// What the symbols of an image call its addresses.
struct SymbolNames {
    private var names: [UInt64: String] = [:]

    /// Reads both tables, of which a library that was stripped has one; what cannot be read has no name.
    init(_ image: ELFImage) {
        let reader = ELFReader(image.bytes)
        for table in image.sections where table.isSymbolTable && Int(table.link) < image.sections.count {
            let texts = image.sections[Int(table.link)].range
            for entry in stride(from: table.range.lowerBound, through: table.range.upperBound - 24, by: 24) {
                let entry = UInt64(entry)
                guard let info = try? reader.uint8(entry + 4), info & 0xF < 3 /* nothing said, STT_OBJECT, STT_FUNC */,
                    let section = try? reader.uint16(entry + 6), section != 0 /* SHN_UNDEF */,
                    let address = try? reader.uint64(entry + 8), names[address] == nil || info & 0xF != 0,
                    let name = try? reader.uint32(entry), let text = try? reader.text(at: UInt64(name), in: texts), !text.isEmpty
                else { continue }
                names[address] = text
            }
        }
    }

    subscript(_ address: UInt64) -> String? { names[address] }
}

extension ELFImage.Section {
    /// SHT_SYMTAB, or what is left of it for the loader: SHT_DYNSYM.
    fileprivate var isSymbolTable: Bool { type == 2 || type == 11 }
}

extension ELFImage {
    /// Whether only those symbols are left that the loader needs.
    package var isStripped: Bool { !sections.contains { $0.type == 2 /* SHT_SYMTAB */ } }
}
