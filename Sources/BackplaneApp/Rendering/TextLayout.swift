import BackplaneHost
import BackplaneScreens

/// A piece of a line of text with one look, which may belong to a target.
struct TextSpan: Sendable, Equatable {
    enum Look: Sendable {
        case plain, faint, strong, heading, critical
    }
    var text: String
    var look: Look
    var target: WindowTarget.ID?
    /// The number of columns that the text occupies.
    let width: Int

    /// Creates a span of a text that ``String/withoutControls`` has passed.
    init(_ text: String, _ look: Look = .plain, _ target: WindowTarget.ID? = nil) {
        (self.text, self.look, self.target) = (text, look, target)
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        width = isPlain ? text.utf8.count : text.displayWidth
    }

    static func spaces(_ count: Int) -> TextSpan { TextSpan(String(repeating: " ", count: max(0, count))) }
}

/// A line of text.
struct TextLine: Sendable, Equatable {
    private(set) var spans: [TextSpan] = []
    private(set) var width = 0

    init(_ spans: [TextSpan] = []) { for span in spans { append(span) } }

    mutating func append(_ span: TextSpan) {
        guard !span.text.isEmpty else { return }
        spans.append(span)
        width += span.width
    }

    /// Returns the line with spaces at its end, up to a width.
    func padded(to width: Int) -> TextLine {
        var line = self
        line.append(.spaces(width - self.width))
        return line
    }

    /// Returns the part of the line that fits into a width.
    func clipped(to width: Int) -> TextLine {
        guard self.width > width else { return self }
        var line = TextLine()
        for span in spans {
            guard line.width + span.width > width else {
                line.append(span)
                continue
            }
            line.append(TextSpan(String(span.text.prefix(columns: width - line.width)), span.look, span.target))
            break
        }
        return line
    }

    /// The text without the spaces at its end.
    var text: String {
        var text = spans.map(\.text).joined()
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// The lines of a view.
struct TextBlock: Sendable, Equatable {
    var lines: [TextLine] = []

    var width: Int { lines.reduce(0) { max($0, $1.width) } }

    init(_ lines: [TextLine] = []) { self.lines = lines }

    /// Returns the block with a lead before each line, such as the bullet of a list; both leads have the same width.
    func led(by first: TextSpan, then rest: TextSpan) -> TextBlock {
        TextBlock(
            lines.enumerated().map { number, line in
                TextLine([number == 0 ? first : rest] + line.spans)
            })
    }

    /// Returns a block of blocks beside each other, each as wide as its column; the last one keeps its width.
    static func beside(_ blocks: [TextBlock], widths: [Int], gap: Int) -> TextBlock {
        let height = blocks.reduce(0) { max($0, $1.lines.count) }
        return TextBlock(
            (0..<height).map { number in
                var line = TextLine(), column = 0
                for (block, width) in zip(blocks, widths) {
                    if number < block.lines.count, !block.lines[number].spans.isEmpty {
                        line = line.padded(to: column)
                        for span in block.lines[number].spans { line.append(span) }
                    }
                    column += width + gap
                }
                return line
            })
    }
}

/// The layout of views as lines of text within a width.
struct TextLayout {
    /// A width that is enough for every text.
    static let unlimited = 1 << 24

    /// The number of the screen whose views are laid out.
    var screen = 0
    /// The numbers before targets; empty to show none.
    var numbers: [WindowTarget.ID: Int] = [:]
    /// The texts that a person has entered in fields.
    var drafts: [ViewKey: String] = [:]
    /// Whether bold letters mark headings, fields have a width at which a value can be edited, and the descriptions of
    /// images take no room from texts.
    var isTerminal = false
    /// The number of columns of a field in a terminal.
    private static let fieldWidth = 30
    /// The number of columns of an image's description in a row of a terminal.
    private static let imageWidth = 20

    /// Returns the lines of views below each other.
    func block(_ views: [View], under parent: ViewKey?, width: Int, isCovered: Bool = false) -> TextBlock {
        var lines: [TextLine] = []
        for (view, key) in ViewKey.children(views, under: parent) {
            let block = self.block(view, key, width: width, isCovered: isCovered)
            if view.kind == .heading || view.kind == .section, !lines.isEmpty { lines.append(TextLine()) }
            lines += block.lines
        }
        return TextBlock(lines)
    }

    private func block(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        switch view.kind {
        case .column: block(view.children, under: key, width: width, isCovered: isCovered)
        case .row, .record: row(view, key, width: width, isCovered: isCovered)
        case .section: section(view, key, width: width, isCovered: isCovered)
        case .list: list(view, key, width: width, isCovered: isCovered)
        case .table: table(view, key, width: width, isCovered: isCovered)
        case .overlay: overlay(view, key, width: width, isCovered: isCovered)
        case .text: Self.wrapped(view.text, look(of: view, isCovered: isCovered), to: width)
        case .heading:
            heading(view.text, level: view.level, width: width, isCovered: isCovered)
        case .progress: progress(view, width: width, isCovered: isCovered)
        case .image where isTerminal && view.text.isEmpty:
            TextBlock(reason(of: view, width: width))
        case .image:
            Self.wrapped(
                "[image: \(view.text)]" + problem(of: view), isCovered || isTerminal ? .faint : .plain, to: width)
        case .field: field(view, key, width: width, isCovered: isCovered)
        case .choice, .toggle, .button, .link: control(view, key, width: width, isCovered: isCovered)
        }
    }

    private func look(of view: View, isCovered: Bool) -> TextSpan.Look {
        guard !isCovered else { return .faint }
        return switch view.style {
        case .normal, .code: .plain
        case .secondary: .faint
        case .strong: .strong
        case .critical: .critical
        }
    }

    // MARK: Containers

    private func row(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        var lines: [TextLine] = [], beside: [TextBlock] = [], widths: [Int] = [], isAfterImage = false
        func end() {
            lines += TextBlock.beside(beside, widths: widths, gap: 2).lines
            (beside, widths) = ([], [])
        }
        for (child, childKey) in ViewKey.children(view.children, under: key) {
            let isImage = isTerminal && child.kind == .image
            let rest = width - widths.reduce(0) { $0 + $1 + 2 }
            // A text beside an image is broken, rather than below it.
            let limit = isAfterImage && rest >= width / 2 ? rest : width
            var block =
                isImage
                ? thumbnail(child, width: width)
                : self.block(child, childKey, width: Self.unlimited, isCovered: isCovered)
            if block.width > limit { block = self.block(child, childKey, width: limit, isCovered: isCovered) }
            if block.lines.isEmpty { continue }
            if !beside.isEmpty, block.width > rest { end() }
            beside.append(block)
            widths.append(block.width)
            isAfterImage = isImage
        }
        end()
        return TextBlock(lines)
    }

    private func section(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        let title = heading(view.text, level: 2, width: width, isCovered: isCovered)
        let content = block(view.children, under: key, width: max(1, width - 2), isCovered: isCovered)
        return TextBlock(title.lines + content.led(by: .spaces(2), then: .spaces(2)).lines)
    }

    private func list(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        let bullet = TextSpan("• ", isCovered ? .faint : .plain)
        return TextBlock(
            ViewKey.children(view.children, under: key).flatMap { child, childKey in
                let row = block(child, childKey, width: max(1, width - 2), isCovered: isCovered)
                return row.led(by: bullet, then: .spaces(2)).lines
            })
    }

    private func table(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        let records = ViewKey.children(view.children, under: key).map { record, recordKey in
            ViewKey.children(record.children, under: recordKey)
        }
        func cells(of record: [(view: View, key: ViewKey)], _ widths: [Int]?) -> [TextBlock] {
            record.enumerated().map { column, cell in
                block(cell.view, cell.key, width: widths?[column] ?? Self.unlimited, isCovered: isCovered)
            }
        }
        func headings(_ widths: [Int]?) -> [TextBlock] {
            view.options.enumerated().map { column, option in
                Self.wrapped(option.title, isCovered ? .faint : .strong, to: widths?[column] ?? Self.unlimited)
            }
        }
        let natural = [headings(nil)] + records.map { cells(of: $0, nil) }
        var widths = [Int](repeating: 0, count: view.options.count)
        for row in natural {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.width) }
        }
        let limited = Self.limited(widths, to: width - 2 * max(0, widths.count - 1))
        let rows =
            limited == widths ? natural : [headings(limited)] + records.map { cells(of: $0, limited) }
        return TextBlock(rows.flatMap { TextBlock.beside($0, widths: limited, gap: 2).lines })
    }

    /// Returns the widths of columns, with the widest ones reduced so that all have room; each is at least 1.
    static func limited(_ widths: [Int], to width: Int) -> [Int] {
        var rest = width, limit = Int.max
        for (number, natural) in widths.sorted().enumerated() {
            let share = rest / (widths.count - number)
            guard natural <= share else {
                limit = max(1, share)
                break
            }
            rest -= natural
        }
        return widths.map { min($0, limit) }
    }

    private func overlay(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        let children = ViewKey.children(view.children, under: key)
        guard view.isCovering else {
            return TextBlock(
                children.flatMap { block($0.view, $0.key, width: width, isCovered: isCovered).lines })
        }
        let cover = block(children[0].view, children[0].key, width: max(1, width - 2), isCovered: isCovered)
        let rest = children.dropFirst().flatMap {
            block($0.view, $0.key, width: max(1, width - 2), isCovered: true).lines
        }
        return TextBlock(Self.framed(cover).lines + Self.covered(TextBlock(rest)).lines)
    }

    /// Returns a block with a frame at its side.
    static func framed(_ block: TextBlock) -> TextBlock {
        block.led(by: TextSpan("│ "), then: TextSpan("│ "))
    }

    /// Returns a block that something covers, marked as such.
    static func covered(_ block: TextBlock) -> TextBlock {
        block.led(by: TextSpan("░ ", .faint), then: TextSpan("░ ", .faint))
    }

    // MARK: Leaves

    private func heading(_ text: String, level: Int, width: Int, isCovered: Bool) -> TextBlock {
        let marks = isTerminal ? "" : String(repeating: "#", count: level) + " "
        return Self.wrapped(marks + text, isCovered ? .faint : .heading, to: width)
    }

    /// Returns an image of a row as the beginning of its description, which has the same width in all rows, and the
    /// reason if it is not there.
    private func thumbnail(_ view: View, width: Int) -> TextBlock {
        let text = view.text.onOneLine, width = min(width, Self.imageWidth)
        var lines = reason(of: view, width: width)
        if !text.isEmpty {
            let shown = text.displayWidth <= width - 2 ? text : String(text.prefix(columns: width - 3)) + "…"
            lines.insert(TextLine([TextSpan("[\(shown)]", .faint)]), at: 0)
        }
        return TextBlock(lines.map { $0.padded(to: width) })
    }

    /// Returns the lines with the reason why an image is missing; none if it is present.
    private func reason(of image: View, width: Int) -> [TextLine] {
        image.problem.isEmpty ? [] : Self.wrapped("! " + image.problem, .faint, to: width).lines
    }

    private func progress(_ view: View, width: Int, isCovered: Bool) -> TextBlock {
        var text = view.text.isEmpty ? "" : view.text + " "
        if let fraction = view.fraction {
            let filled = Int(fraction * 20)
            text += "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled)
            text += "] \(Int(fraction * 100)) %"
        } else {
            text += "…"
        }
        return Self.wrapped(text, isCovered ? .faint : .plain, to: width)
    }

    private func field(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        let target: WindowTarget.ID? = isCovered || view.isDisabled ? nil : .view(screen: screen, key)
        let look: TextSpan.Look = isCovered || view.isDisabled ? .faint : .plain
        let draft = drafts[key], value = draft ?? view.value
        let shown =
            view.content == .secret
            ? String(repeating: "•", count: value.count) : value.withoutControls.replacing("\n", with: "↵")
        let label = number(of: target) + (view.text.isEmpty ? "" : view.text.onOneLine + ": ")
        var text = shown, room = 0, remarks = states(of: view)
        if isTerminal {
            room = max(1, min(Self.fieldWidth, width - 2))
            // The text is edited at its end.
            text = String(shown.suffix(columns: room))
        }
        let hint = value.isEmpty && draft == nil ? view.prompt.onOneLine : ""
        if !isTerminal, !hint.isEmpty { remarks = " (\(hint))" + remarks }
        let box = [
            TextSpan("[" + text, look, target),
            TextSpan(isTerminal ? String(hint.prefix(columns: room)) : "", .faint, target),
        ]
        let padding = max(0, room + 1 - box[0].width - box[1].width)
        let end = TextSpan(String(repeating: "_", count: padding) + "]", look, target)
        let line = TextLine([TextSpan(label, look)] + box + [end, TextSpan(remarks, .faint)])
        var lines = [line]
        if line.width > width {
            lines = label.isEmpty ? [] : Self.wrapped(label, look, to: width).lines
            lines.append(TextLine(box + [end]))
            if !remarks.isEmpty { lines += Self.wrapped(String(remarks.dropFirst()), .faint, to: width).lines }
        }
        if !view.problem.isEmpty {
            lines += Self.wrapped("! " + view.problem, isCovered ? .faint : .critical, to: width).lines
        }
        return TextBlock(lines)
    }

    private func control(_ view: View, _ key: ViewKey, width: Int, isCovered: Bool) -> TextBlock {
        let isTarget = !isCovered && !view.isDisabled && (view.kind != .link || view.destination != nil)
        let target: WindowTarget.ID? = isTarget ? .view(screen: screen, key) : nil
        let text: String =
            switch view.kind {
            case .button: "[ \(view.text) ]"
            case .toggle: (view.value == "true" ? "[x] " : "[ ] ") + view.text
            case .choice: (view.text.isEmpty ? "" : view.text + ": ") + "<\(view.chosenTitle)>"
            default: view.text + " →" + (view.address.isEmpty ? "" : " " + view.address)
            }
        return Self.wrapped(
            number(of: target) + text + states(of: view) + problem(of: view),
            isCovered || view.isDisabled ? .faint : look(of: view, isCovered: false), target, to: width)
    }

    private func number(of target: WindowTarget.ID?) -> String {
        guard let target, let number = numbers[target] else { return "" }
        return "\(number)) "
    }

    private func states(of view: View) -> String {
        switch (view.isBusy, view.isDisabled) {
        case (true, true): " (busy, disabled)"
        case (true, false): " (busy)"
        case (false, true): " (disabled)"
        case (false, false): ""
        }
    }

    private func problem(of view: View) -> String {
        view.problem.isEmpty || view.kind == .field ? "" : "\n! " + view.problem
    }

    // MARK: Breaking

    /// Returns a text as lines, which are broken between words, or within a word that is wider than a line.
    static func wrapped(
        _ text: String, _ look: TextSpan.Look = .plain, _ target: WindowTarget.ID? = nil, to width: Int
    ) -> TextBlock {
        TextBlock(
            text.withoutControls.split(separator: "\n", omittingEmptySubsequences: false)
                .flatMap { broken($0, to: max(1, width)) }
                .map { TextLine([TextSpan($0, look, target)]) })
    }

    private static func broken(_ paragraph: Substring, to width: Int) -> [String] {
        // No character has more columns than bytes.
        if paragraph.utf8.count <= width { return [String(paragraph)] }
        var lines: [String] = [], line = "", columns = 0, isFirst = true
        for word in paragraph.split(separator: " ", omittingEmptySubsequences: false) {
            var rest = word, length = word.reduce(0) { $0 + $1.displayWidth }
            if !isFirst, columns + 1 + length <= width {
                line += " " + rest
                columns += 1 + length
                continue
            }
            if !isFirst { lines.append(line) }
            while length > width {
                // At least one character, even if it is wider than the line.
                let part = rest.prefix(columns: width), taken = part.isEmpty ? rest.prefix(1) : part
                guard taken.endIndex < rest.endIndex else { break }
                lines.append(String(taken))
                length -= taken.reduce(0) { $0 + $1.displayWidth }
                rest = rest[taken.endIndex...]
            }
            (line, columns, isFirst) = (String(rest), length, false)
        }
        return lines + [line]
    }
}

extension View {
    /// The title of a choice's option, or its value if there is no such option.
    fileprivate var chosenTitle: String { options.first { $0.value == value }?.title ?? value }
}

extension StringProtocol {
    /// Returns the longest beginning that fits into columns.
    func prefix(columns: Int) -> SubSequence {
        var width = 0
        return prefix { character in
            width += character.displayWidth
            return width <= columns
        }
    }

    /// Returns the longest end that fits into columns.
    func suffix(columns: Int) -> SubSequence {
        var width = 0, start = endIndex
        while start > startIndex {
            let before = index(before: start)
            width += self[before].displayWidth
            guard width <= columns else { break }
            start = before
        }
        return self[start...]
    }

    /// The text without characters that would move a terminal's cursor, change its state or reverse the text.
    ///
    /// Line feeds remain.
    var withoutControls: String {
        if utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F || $0 == 0x0A }) { return String(self) }
        var text = String.UnicodeScalarView(), isAfterReturn = false
        for scalar in unicodeScalars {
            switch scalar {
            case "\n" where isAfterReturn: break
            case "\n", "\r", "\u{2028}", "\u{2029}": text.append("\n")
            case "\t": text.append(" ")
            default:
                let isHarmful = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
                text.append(isHarmful ? "\u{FFFD}" : scalar)
            }
            isAfterReturn = scalar == "\r"
        }
        return String(text)
    }
}
