/// The symbols of an image by their addresses.
struct SymbolNames {
    private var names: [UInt64: String] = [:]

    /// Creates the names from both symbol tables, of which a stripped library has one; omits unreadable entries.
    init(_ image: ELFImage) {
        for entry in image.symbolEntries(in: [.whole, .dynamic])
        where entry.isDefined && entry.kind != .other && !entry.name.isEmpty {
            if names[entry.address] == nil || entry.kind != .unsaid { names[entry.address] = entry.name }
        }
    }

    subscript(_ address: UInt64) -> String? { names[address] }
}
