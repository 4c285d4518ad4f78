extension ELFImage {
    /// A Boolean value that indicates whether the image contains Swift code.
    ///
    /// SwiftPM adds the sections of Swift's metadata to every product; they are empty in one without Swift code.
    package var hasSwift: Bool {
        sections.contains { !$0.range.isEmpty && sectionNames.hasPrefix("swift5_", at: $0.name) }
    }
}
