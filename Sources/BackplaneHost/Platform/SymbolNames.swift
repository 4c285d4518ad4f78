/// What the symbols of an image call its addresses.
struct SymbolNames {
    private var names: [UInt64: String] = [:]

    /// Reads both tables, of which a library that was stripped has one; what cannot be read has no name.
    init(_ image: ELFImage) {
        for entry in image.symbolEntries(in: [.whole, .dynamic]) where entry.isDefined && entry.kind != .other && !entry.name.isEmpty {
            if names[entry.address] == nil || entry.kind != .unsaid { names[entry.address] = entry.name }
        }
    }

    subscript(_ address: UInt64) -> String? { names[address] }
}
