extension ELFImage {
    /// A Boolean value that indicates whether the image contains Swift code.
    ///
    /// SwiftPM gives every product the sections of Swift's metadata; in one without Swift code they are empty.
    package var hasSwift: Bool {
        sections.contains { !$0.range.isEmpty && sectionNames.hasPrefix("swift5_", at: $0.name) }
    }
}
