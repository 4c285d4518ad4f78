extension String {
    /// The number of terminal columns that the string occupies: two for wide characters, none for combining ones.
    package var displayWidth: Int {
        reduce(0) { $0 + $1.displayWidth }
    }
}

extension Character {
    package var displayWidth: Int {
        // A variation selector requests the emoji presentation, and two regional indicators form a flag: both are wide.
        if unicodeScalars.count > 1,
            unicodeScalars.contains(where: { $0.value == 0xFE0F || $0.properties.isEmojiPresentation })
        {
            return 2
        }
        return unicodeScalars.map(\.displayWidth).max() ?? 0
    }
}

extension Unicode.Scalar {
    fileprivate var displayWidth: Int {
        if value < 0x7F { return value < 0x20 ? 0 : 1 }
        switch properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // The vowels and final consonants of decomposed Hangul syllables.
        if (0x1160...0x11FF).contains(value) { return 0 }
        return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
    }

    /// The blocks of wide and full-width East Asian characters, by Unicode Standard Annex 11.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1B000...0x1B2FF,
        0x1F200...0x1F265,
        0x20000...0x3FFFD,
    ]
}
