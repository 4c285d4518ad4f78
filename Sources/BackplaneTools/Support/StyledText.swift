import BackplaneHost
import Glibc

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

/// A table whose columns are as wide as their widest cells.
package struct Table: Sendable {
    package var header: [String]
    package var rows: [[Span]]

    package init(_ header: [String], _ rows: [[Span]]) {
        (self.header, self.rows) = (header, rows)
    }

    /// Returns the header and the rows.
    ///
    /// - Parameter width: The columns of the terminal; a longer row continues on indented lines.
    package func lines(colour: Bool, width: Int = .max) -> [String] {
        let all = [header.map { Span($0, .heading) }] + rows
        let widths = header.indices.map { column in all.map { $0[column].text.displayWidth }.max() ?? 0 }
        let parts = Self.parts(of: widths, in: width)
        return all.flatMap { row in
            parts.flatMap { part -> [String] in
                let indent = part.lowerBound == 0 ? "" : Self.indent
                // Trailing empty cells are omitted, so that no line ends in spaces.
                guard let last = row[part].lastIndex(where: { !$0.text.allSatisfy { $0 == " " } }) else {
                    return part.lowerBound == 0 ? [""] : []
                }
                // Only a cell that stands alone can be wider than the terminal.
                let pieces = row[last].text.wrapped(to: last == part.lowerBound ? width - indent.count : .max)
                let cells = row[part.lowerBound..<last].indices.map { column in
                    row[column].text(colour: colour)
                        + String(repeating: " ", count: widths[column] - row[column].text.displayWidth + 2)
                }
                return pieces.map { indent + cells.joined() + Span($0, row[last].style).text(colour: colour) }
            }
        }
    }

    private static let indent = "    "

    /// Returns the columns on each line of a row.
    private static func parts(of widths: [Int], in width: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = [], start = 0, end = 0
        for column in widths.indices {
            if column > start, end + 2 + widths[column] > width {
                parts.append(start..<column)
                (start, end) = (column, indent.count)
            }
            end += widths[column] + (column > start ? 2 : 0)
        }
        return parts + [start..<widths.count]
    }
}

/// A line and its subordinate lines, printed as a tree.
package struct Tree: Sendable {
    package var line: [Span]
    package var branches: [Tree]

    package init(_ line: [Span], _ branches: [Tree] = []) {
        (self.line, self.branches) = (line, branches)
    }

    /// The characters for drawing branches.
    struct Pen: Sendable {
        var branch, last, trunk: String
        static let boxes = Pen(branch: "├─ ", last: "└─ ", trunk: "│  ")
        static let ascii = Pen(branch: "|- ", last: "`- ", trunk: "|  ")
    }

    func lines(_ pen: Pen, colour: Bool) -> [String] {
        [line.text(colour: colour)]
            + branches.indices.flatMap { index in
                let isLast = index == branches.count - 1
                return branches[index].lines(pen, colour: colour).enumerated().map { number, line in
                    let lead = number == 0 ? (isLast ? pen.last : pen.branch) : (isLast ? "   " : pen.trunk)
                    return Span(lead, lead == "   " ? .plain : .faint).text(colour: colour) + line
                }
            }
    }
}

extension String {
    /// Returns at most `count` characters, the last one an ellipsis if some are omitted.
    package func shortened(to count: Int) -> String {
        self.count <= count ? self : prefix(count - 1) + "…"
    }

    /// Returns the text, truncated with an ellipsis if it does not fit into columns of a terminal.
    package func fitted(to columns: Int) -> String {
        guard displayWidth > columns else { return self }
        var width = 1
        let end = indices.first { index in
            width += self[index].displayWidth
            return width > columns
        }
        return self[..<(end ?? endIndex)] + "…"
    }

    /// Returns the text in pieces, each of which fits into columns of a terminal.
    func wrapped(to columns: Int) -> [String] {
        var pieces = [""], width = 0
        for character in self {
            width += character.displayWidth
            if width > columns, pieces.last != "" {
                pieces.append("")
                width = character.displayWidth
            }
            pieces[pieces.count - 1].append(character)
        }
        return pieces
    }
}

/// The formatting of measured values.
package enum Figure {
    package static func milliseconds(_ value: Double) -> String {
        value < 10
            ? "\(rounded(value, 100)) ms"
            : value < 10_000 ? "\(rounded(value, 1)) ms" : "\(rounded(value / 1_000, 10)) s"
    }

    package static func bytes(_ count: Int) -> String {
        switch count {
        case ..<1_000: counted(count, "byte")
        case ..<1_000_000: "\(rounded(Double(count) / 1e3, 10)) KB"
        case ..<1_000_000_000: "\(rounded(Double(count) / 1e6, 10)) MB"
        default: "\(rounded(Double(count) / 1e9, 10)) GB"
        }
    }

    /// Returns the text of a time in seconds since 1970, in this machine's time zone.
    package static func time(_ seconds: Double) -> String {
        var moment = time_t(seconds), parts = tm()
        localtime_r(&moment, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    /// Returns a number rounded to 1/`parts`, without a decimal point if it is whole.
    private static func rounded(_ value: Double, _ parts: Double) -> String {
        let value = (value * parts).rounded() / parts
        return Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}

/// Returns a number and its noun, in the plural unless the number is one: `1 error`, `2 errors`.
package func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
