/// A piece of text and its style at a terminal.
package struct Span: Sendable, Hashable, ExpressibleByStringInterpolation {
    package enum Style: Int, Sendable, Hashable {
        case plain = 0, heading = 1, faint = 2, bad = 31, good = 32, doubtful = 33
    }
    package var text: String
    package var style: Style

    package init(_ text: String, _ style: Style = .plain) {
        (self.text, self.style) = (text, style)
    }

    package init(stringLiteral text: String) { self.init(text) }

    /// Returns the text, within the terminal's escape codes if it is coloured.
    package func text(colour: Bool) -> String {
        colour && style != .plain && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension [Span] {
    package func text(colour: Bool) -> String { map { $0.text(colour: colour) }.joined() }
}
