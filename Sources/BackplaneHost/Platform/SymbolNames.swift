/// The symbols of an image by their addresses.
struct SymbolNames {
    /// The offset of a symbol's name in the table of names of its kind of symbol table.
    private struct Place {
        let isWhole: Bool
        let offset: UInt32
    }
    private var places: [UInt64: Place] = [:]
    private let whole, dynamic: ELFNames?

    /// Creates the names from both symbol tables, of which a stripped library has only one; omits unreadable entries.
    init(_ image: ELFImage) {
        (whole, dynamic) = (image.symbolTable(.whole)?.names, image.symbolTable(.dynamic)?.names)
        for kind in [ELFImage.SymbolTable.whole, .dynamic] {
            image.forEachSymbol(in: kind) { entry, names in
                guard entry.isDefined, entry.kind != .other, !names.isName("", at: entry.name) else { return }
                guard places[entry.address] == nil || entry.kind != .unsaid else { return }
                places[entry.address] = Place(isWhole: kind == .whole, offset: entry.name)
            }
        }
    }

    subscript(_ address: UInt64) -> String? {
        places[address].flatMap { place in
            (place.isWhole ? whole : dynamic).flatMap { try? $0.text(at: place.offset) }
        }
    }
}
