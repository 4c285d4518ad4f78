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
