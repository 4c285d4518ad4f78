/// The lines of a terminal after an output: those that it shows, and those that it has scrolled out.
struct TerminalScreen {
    private var cells: [[Unicode.Scalar]] = [[]]
    /// The first line that is shown, and the place of the cursor.
    private var top = 0, row = 0, column = 0

    /// Shows an output on a terminal of a height.
    init(_ output: String, height: Int) {
        var rest = Array(output.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n":
                row += 1
                if row == cells.count { cells.append([]) }
                top = max(top, row - height + 1)
            case "\u{1B}": control(&rest)
            default: put(scalar)
            }
        }
    }

    /// The lines without spaces at their ends, up to the last one with text.
    var lines: [String] {
        let lines = cells.map { line in
            String(String.UnicodeScalarView(line.prefix(through: line.lastIndex { $0 != " " } ?? -1)))
        }
        return Array(lines.prefix(through: lines.lastIndex { !$0.isEmpty } ?? -1))
    }

    private mutating func put(_ scalar: Unicode.Scalar) {
        while cells[row].count <= column { cells[row].append(" ") }
        cells[row][column] = scalar
        column += 1
    }

    /// Performs a control sequence (ECMA-48): cursor up, and erase to the end of the line or of the screen.
    private mutating func control(_ rest: inout ArraySlice<Unicode.Scalar>) {
        guard rest.popFirst() == "[" else { return }
        var number = ""
        while let scalar = rest.popFirst() {
            guard !("0"..."9").contains(scalar) else {
                number.unicodeScalars.append(scalar)
                continue
            }
            switch scalar {
            case "A": row = max(top, row - (Int(number) ?? 1))
            case "J", "K":
                cells[row].removeLast(max(0, cells[row].count - column))
                if scalar == "J" { for line in cells.indices where line > row { cells[line] = [] } }
            default: break
            }
            return
        }
    }
}
