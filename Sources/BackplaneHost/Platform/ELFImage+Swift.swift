extension ELFImage {
    /// Whether there is Swift code in it: SwiftPM gives every product the sections of Swift's metadata, and in one without
    /// Swift they are empty.
    package var hasSwift: Bool {
        sections.contains { $0.name.hasPrefix("swift5_") && !$0.range.isEmpty }
    }
}
