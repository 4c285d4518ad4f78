/// The versions of symbols that the library defines and needs, and the version number of each symbol.
extension ELFLoaderTables {
    func checkVersions(_ symbols: Symbols) throws(ELFImage.Defect) {
        // Entries may lie in one another; those of a sound library fit into it side by side.
        var rest = reader.bytes.count / 16
        let highest = max(try highestNeeded(&rest), try highestDefined(&rest))
        guard let address = dynamic[Tag.versions] else {
            guard highest == 0 else {
                throw .misleading("its symbols have no versions, but it has versions of symbols")
            }
            return
        }
        guard highest > 0 else { throw .misleading("its symbols have versions, but it has no versions of symbols") }
        let table = try memory.bytes(at: address, symbols.count * 2, "the table of its symbols' versions")
        try reader.bytes.withBytes(in: table) { bytes throws(ELFImage.Defect) in
            for number in 0..<Int(symbols.count) {
                let version = bytes.number(number * 2, as: UInt16.self) & 0x7FFF
                guard version <= highest else {
                    throw .misleading("symbol \(number) has version \(version), and the last one is \(highest)")
                }
            }
        }
    }

    /// Returns the highest number of a version that other libraries define; 0 if there is none.
    private func highestNeeded(_ rest: inout Int) throws(ELFImage.Defect) -> UInt16 {
        guard var address = dynamic[Tag.neededVersions] else { return 0 }
        var highest: UInt16 = 0
        while true {
            let entry = try self.entry(at: address, &rest)
            guard try reader.uint16(entry) == 1 else { throw Self.unknownForm }
            try requireName(UInt64(reader.uint32(entry + 4)), "the name of a library with versions")
            var version = address + UInt64(try reader.uint32(entry + 8))
            while true {
                let entry = try self.entry(at: version, &rest)
                highest = max(highest, try reader.uint16(entry + 6) & 0x7FFF)
                try requireName(UInt64(reader.uint32(entry + 8)), "the name of a version")
                let distance = UInt64(try reader.uint32(entry + 12))
                if distance == 0 { break }
                version += distance
            }
            let distance = UInt64(try reader.uint32(entry + 12))
            if distance == 0 { return highest }
            address += distance
        }
    }

    /// Returns the highest number of a version that the library defines; 0 if there is none.
    private func highestDefined(_ rest: inout Int) throws(ELFImage.Defect) -> UInt16 {
        guard var address = dynamic[Tag.definedVersions] else { return 0 }
        var highest: UInt16 = 0
        while true {
            let entry = try self.entry(at: address, &rest)
            guard try reader.uint16(entry) == 1 else { throw Self.unknownForm }
            highest = max(highest, try reader.uint16(entry + 4) & 0x7FFF)
            let names = address + UInt64(try reader.uint32(entry + 12))
            let name = try UInt64(memory.bytes(at: names, 8, "the name of a version").lowerBound)
            try requireName(UInt64(reader.uint32(name)), "the name of a version")
            // An entry has 20 bytes.
            _ = try memory.bytes(at: address, 20, "a version of its symbols")
            let distance = UInt64(try reader.uint32(entry + 16))
            if distance == 0 { return highest }
            address += distance
        }
    }

    private static let unknownForm = ELFImage.Defect.misleading("a version of its symbols has an unknown form")

    /// Returns the offset in the file of an entry of at least 16 bytes.
    private func entry(at address: UInt64, _ rest: inout Int) throws(ELFImage.Defect) -> UInt64 {
        rest -= 1
        guard rest >= 0 else { throw .misleading("the versions of its symbols have no end") }
        return try UInt64(memory.bytes(at: address, 16, "a version of its symbols").lowerBound)
    }
}
