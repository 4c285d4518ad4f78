extension ELFImage {
    /// The defined symbols that may replace, or be replaced by, another library's symbols of the same name.
    ///
    /// Symbols that linkers add to every library are omitted. Swift exports its symbols as protected, which binds them
    /// to their own library.
    package var interposable: [String] {
        symbolEntries(in: [.dynamic]).filter { $0.isInterposable && $0.isDefined && !Self.ofLinkers.contains($0.name) }
            .map(\.name).sorted()
    }

    private static let ofLinkers: Set = [
        "", "_init", "_fini", "_edata", "_end", "__bss_start", "_etext", "edata", "end", "etext",
    ]
}
