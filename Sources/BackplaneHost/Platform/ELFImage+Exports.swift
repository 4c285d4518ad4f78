extension ELFImage {
    /// The symbols it defines that take part in the process-wide search: another library's of the same name may be taken for
    /// them, or they for another's. Those that linkers add to every library are left out.
    ///
    /// What Swift exports is protected, and binds to itself.
    package var interposable: [String] {
        let reader = ELFReader(bytes)
        var found: [String] = []
        for table in sections where table.type == 11 /* SHT_DYNSYM */ && Int(table.link) < sections.count {
            let texts = sections[Int(table.link)].range
            for entry in stride(from: table.range.lowerBound, through: table.range.upperBound - 24, by: 24) {
                let entry = UInt64(entry)
                guard let info = try? reader.uint8(entry + 4), info >> 4 != 0 /* STB_LOCAL */,
                    let other = try? reader.uint8(entry + 5), other & 3 == 0 /* STV_DEFAULT */,
                    let section = try? reader.uint16(entry + 6), section != 0 /* SHN_UNDEF */,
                    let name = try? reader.uint32(entry), let text = try? reader.text(at: UInt64(name), in: texts), !Self.ofLinkers.contains(text)
                else { continue }
                found.append(text)
            }
        }
        return found.sorted()
    }

    private static let ofLinkers: Set = ["", "_init", "_fini", "_edata", "_end", "__bss_start", "_etext", "edata", "end", "etext"]
}
