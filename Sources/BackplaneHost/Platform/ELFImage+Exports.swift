extension ELFImage {
    /// The symbols it defines that take part in the process-wide search: another library's of the same name may be taken for
    /// them, or they for another's. Those that linkers add to every library are left out.
    ///
    /// What Swift exports is protected, and binds to itself.
    package var interposable: [String] {
        symbolEntries(in: [.dynamic]).filter { $0.isInterposable && $0.isDefined && !Self.ofLinkers.contains($0.name) }.map(\.name).sorted()
    }

    private static let ofLinkers: Set = ["", "_init", "_fini", "_edata", "_end", "__bss_start", "_etext", "edata", "end", "etext"]
}
