extension ELFImage {
    /// Returns whether the library itself defines and exports the function `name`; a mere reference does not count.
    ///
    /// It reads the dynamic symbol table, which a stripped library still has.
    package func defines(symbol name: String) -> Bool {
        guard let table = symbolTable(.dynamic) else { return false }
        return bytes.withBytes(in: table.range) { entries in
            bytes.withBytes(in: table.names.range) { names in
                stride(from: 0, through: entries.count - 24, by: 24).contains {
                    Symbol(entries, at: $0).isVisibleFunction(named: name, names)
                }
            }
        }
    }

    /// An entry of a symbol table.
    private struct Symbol {
        let name: UInt32
        let info, other: UInt8
        let section: UInt16

        init(_ table: UnsafeRawBufferPointer, at offset: Int) {
            // One load for all fields, because there are thousands of entries.
            let fields = UInt64(littleEndian: table.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            name = UInt32(truncatingIfNeeded: fields)
            info = UInt8(truncatingIfNeeded: fields >> 32)
            other = UInt8(truncatingIfNeeded: fields >> 40)
            section = UInt16(truncatingIfNeeded: fields >> 48)
        }

        func isVisibleFunction(named wanted: String, _ names: UnsafeRawBufferPointer) -> Bool {
            let isFunction = info & 0xF == 2  // STT_FUNC
            let isShared = info >> 4 == 1 || info >> 4 == 2  // STB_GLOBAL, STB_WEAK
            let isVisible = other & 3 == 0 || other & 3 == 3  // STV_DEFAULT, STV_PROTECTED
            guard isFunction && isShared && isVisible && section != 0 /* SHN_UNDEF */ else { return false }
            return ELFReader.isText(wanted, at: Int(name), in: names)
        }
    }
}
