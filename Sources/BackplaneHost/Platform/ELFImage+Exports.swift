extension ELFImage {
    /// The defined symbols that may replace, or be replaced by, another library's symbols of the same name.
    ///
    /// Symbols that linkers add to every library are omitted. Swift exports its symbols as protected, which binds them
    /// to their own library.
    package var interposable: [String] {
        var found: [String] = []
        // Names may overlap in the file; those of a sound library are together shorter than it.
        var rest = bytes.count
        forEachSymbol(in: .dynamic) { entry, names in
            guard entry.isInterposable, entry.isDefined, rest > 0, let name = try? names.text(at: entry.name) else {
                return
            }
            rest -= name.utf8.count
            if !Self.ofLinkers.contains(name) { found.append(name) }
        }
        return found.sorted()
    }

    private static let ofLinkers: Set = [
        "", "_init", "_fini", "_edata", "_end", "__bss_start", "_etext", "edata", "end", "etext",
    ]
}
