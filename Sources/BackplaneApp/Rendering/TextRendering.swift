import BackplaneScreens

/// The rendering of windows as text without cursor movements, for tests and pipes.
///
///     (Books)  Loans
///     # Books
///     Search: [moby]
///     • Moby-Dick →  [ Borrow ]
///
/// The selected tab is in parentheses. A part that covers others has a line of `│` at its side; a covered part has `░`.
package struct TextRendering {
    private let drawing: WindowDrawing
    private let entered: EnteredValues
    private let numbers: [WindowTarget.ID: Int]

    /// Returns the text of a window.
    package static func text(of drawing: WindowDrawing, _ entered: EnteredValues = EnteredValues()) -> String {
        TextRendering(drawing: drawing, entered: entered, numbers: [:]).text
    }

    /// Returns the text of a window with a number before each target, from 1.
    package static func numberedText(
        of drawing: WindowDrawing, _ entered: EnteredValues = EnteredValues()
    ) -> (text: String, targets: [WindowTarget]) {
        let targets = drawing.targets.filter { $0.id != .tab(drawing.selected) }
        let numbers = Dictionary(zip(targets.map(\.id), 1...)) { first, _ in first }
        return (TextRendering(drawing: drawing, entered: entered, numbers: numbers).text, targets)
    }

    private var text: String {
        let isCovered = drawing.modal != nil || drawing.alert != nil
        var lines = TextBlock(tabs + (drawing.screen.map { block(of: $0, isCovered: isCovered) } ?? []))
        if isCovered { lines = TextLayout.covered(lines) }
        if let modal = drawing.modal {
            let isCovered = drawing.alert != nil
            let content = TextBlock(block(of: modal, isModal: true, isCovered: isCovered))
            lines.lines += (isCovered ? TextLayout.covered(content) : TextLayout.framed(content)).lines
        }
        if let alert = drawing.alert {
            let text = TextLayout.wrapped("! \(alert.title)\n\(alert.message)", to: TextLayout.unlimited)
            let button = TextLine([TextSpan(number(of: .alert) + "[ OK ]")])
            lines.lines += TextLayout.framed(TextBlock(text.lines + [button])).lines
        }
        return lines.lines.map(\.text).joined(separator: "\n")
    }

    private var tabs: [TextLine] {
        let tabs = drawing.tabs.enumerated().map { index, tab in
            let title = (tab.title.isEmpty ? tab.identifier : tab.title).onOneLine
            return number(of: .tab(index)) + (index == drawing.selected ? "(\(title))" : title)
        }
        let parts = tabs + (drawing.isLoading ? ["…"] : [])
        return parts.isEmpty ? [] : [TextLine([TextSpan(parts.joined(separator: "  "))])]
    }

    private func block(of screen: WindowDrawing.Shown, isModal: Bool = false, isCovered: Bool) -> [TextLine] {
        var lines: [TextLine] = []
        if let back = screen.wayBack(isModal: isModal) {
            lines.append(TextLine([TextSpan(number(of: .back) + "‹ " + back.onOneLine)]))
        }
        if !screen.hasOwnTitle { lines.append(TextLine([TextSpan("# " + screen.heading.onOneLine)])) }
        let layout = TextLayout(screen: screen.number, numbers: numbers, drafts: entered[screen.number])
        return lines
            + layout.block(screen.body, under: nil, width: TextLayout.unlimited, isCovered: isCovered).lines
    }

    private func number(of target: WindowTarget.ID) -> String { numbers[target].map { "\($0)) " } ?? "" }
}

extension String {
    /// The text without control characters, and with spaces in place of line feeds.
    var onOneLine: String { withoutControls.replacing("\n", with: " ") }
}
