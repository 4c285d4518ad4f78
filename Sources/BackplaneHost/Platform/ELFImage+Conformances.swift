extension ELFImage {
    /// Returns the conformances whose module declares neither the type nor the protocol, as written in code.
    ///
    /// The layouts are those of the Swift runtime's protocol conformance descriptors (`MetadataValues.h`,
    /// `ConformanceFlags`).
    package func retroactiveConformances() throws(Defect) -> [String] {
        guard let section = section(called: "swift5_protocol_conformances") else { return [] }
        let reader = ELFReader(bytes), segments = try segments(), names = SymbolNames(self)
        var found: [String] = []
        for record in stride(from: section.range.lowerBound, through: section.range.upperBound - 4, by: 4)
        where found.count < Self.mostListed {
            guard let place = segments.address(of: record) else { continue }
            let distance = Int32(bitPattern: try reader.uint32(UInt64(record)))
            let descriptor = place &+ UInt64(bitPattern: Int64(distance))
            guard let offset = segments.offset(of: descriptor) else { continue }
            let flags = try reader.uint32(offset + 12)
            guard flags & Self.isRetroactive != 0 else { continue }
            found.append(names[descriptor].map(Self.conformance) ?? "one without a symbol")
        }
        return found.sorted()
    }

    private static let isRetroactive: UInt32 = 1 << 6

    /// Returns the readable form of a descriptor's symbol, such as `Swift.Int : P in Module`.
    private static func conformance(_ symbol: String) -> String {
        let text = SymbolName.readable(symbol), prefix = "protocol conformance descriptor for "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }
}
