import BackplaneHost

/// A table whose columns are as wide as their widest cells.
package struct Table: Sendable {
    package var header: [String]
    package var rows: [[Span]]

    package init(_ header: [String], _ rows: [[Span]]) {
        (self.header, self.rows) = (header, rows)
    }

    package func lines(colour: Bool) -> [String] {
        let all = [header.map { Span($0, .heading) }] + rows
        let widths = header.indices.map { column in all.map { $0[column].text.displayWidth }.max() ?? 0 }
        return all.map { row in
            // Trailing empty cells are omitted, so that no line ends in spaces.
            let last = row.lastIndex { !$0.text.allSatisfy { $0 == " " } } ?? -1
            return row.indices.prefix(through: last).map { column in
                let cell = row[column]
                return cell.text(colour: colour)
                    + (column == last ? "" : String(repeating: " ", count: widths[column] - cell.text.displayWidth))
            }.joined(separator: "  ")
        }
    }
}
