import BackplaneHost
import BackplaneScreens

/// The appearance of a window in a terminal, and the effect of keys: a state machine without a terminal.
struct TerminalScreen: Sendable {
    /// The size of a terminal, at least one column and one row.
    struct Size: Sendable, Equatable {
        var columns: Int
        var rows: Int
    }
    /// The result of a key, besides a changed appearance.
    enum Outcome: Sendable, Equatable {
        /// The person does something, in order; perhaps nothing.
        case act([WindowAction])
        case quit
    }
    /// The focus and the scroll position of a screen.
    private struct Place {
        var focus: WindowTarget.ID?
        /// The last index of the focused target among the targets that can be used.
        var index = 0
        /// The first visible line of the body.
        var top = 0
    }
    private(set) var drawing: WindowDrawing
    private var size: Size
    /// The places of the screens that were shown, by their numbers.
    private var places: [Int: Place] = [:]
    private var entered = EnteredValues()
    /// A Boolean value that indicates whether the focused field was changed since it got the focus or was submitted.
    private var isEditing = false
    /// The lines and the targets of the front screen's body.
    private var body = TextBlock()
    private var targets: [WindowTarget] = []
    /// The number of screens whose places are kept.
    private static let mostPlaces = 100

    init(_ drawing: WindowDrawing, size: Size) {
        self.drawing = drawing
        self.size = Size(columns: max(1, size.columns), rows: max(1, size.rows))
        show(drawing)
    }

    // MARK: Changes

    /// Shows another drawing; the focus and its line remain in place, if possible.
    mutating func show(_ new: WindowDrawing) {
        let formerPlace = placeNumber, formerTargets = targets, edited = isEditing ? focusedKey : nil
        let offset = focusedLines.map { $0.lowerBound - place.top }
        if drawing.alert != new.alert { places[Self.alertPlace] = nil }
        drawing = new
        entered.show(new, edited: edited)
        lay()
        if let focus, targets.contains(where: { $0.id == focus }) {
            isEditing = isEditing && placeNumber == formerPlace
            if let offset, let line = focusedLines?.lowerBound, placeNumber == formerPlace { place.top = line - offset }
            return clamp()
        }
        isEditing = false
        let index = formerTargets.firstIndex { $0.id == focus }
        if let index { place.index = index }
        // A target that is disabled for a time keeps the focus, such as a button while its work goes on.
        if focus != nil, targets.isEmpty || isFocusOutOfUse { return clamp() }
        if let index {
            place.focus = targets[min(index, targets.count - 1)].id
        } else if focus != nil || places[placeNumber] == nil || formerTargets.isEmpty {
            // Keys are not meant for a field before the person has gone there.
            place.focus = targets.first.flatMap { $0.view?.kind == .field ? nil : $0.id }
        }
        clamp()
    }

    mutating func resize(_ new: Size) {
        size = Size(columns: max(1, new.columns), rows: max(1, new.rows))
        lay()
        reveal()
    }

    /// Lays the body of the front screen out, and drops places that are too many.
    private mutating func lay() {
        targets = drawing.targets.filter { target in
            switch target.id {
            case .tab, .back: false
            case .alert, .view: true
            }
        }
        if let alert = drawing.alert {
            let text = TextLayout.wrapped(alert.title, .heading, to: size.columns)
            let message = TextLayout.wrapped(alert.message, to: size.columns)
            body = TextBlock(text.lines + message.lines + [TextLine([TextSpan("[ OK ]", .plain, .alert)])])
        } else if let front = drawing.front {
            let layout = TextLayout(screen: front.number, drafts: entered[front.number], isTerminal: true)
            body = layout.block(front.body, under: nil, width: size.columns)
        } else {
            body = TextBlock()
        }
        if places.count > Self.mostPlaces, let oldest = places.keys.min() { places[oldest] = nil }
    }

    // MARK: Focus

    /// The place of the front screen or of the alert.
    private var place: Place {
        get { places[placeNumber] ?? Place() }
        set { places[placeNumber] = newValue }
    }

    private var placeNumber: Int { drawing.alert == nil ? frontNumber : Self.alertPlace }
    private static let alertPlace = -1

    /// The focused target; while it cannot be used, no other target gets the focus by itself.
    var focus: WindowTarget.ID? { place.focus }

    private var isFocusOutOfUse: Bool {
        guard let view = focusedKey.flatMap({ drawing.front?.body.find($0) })?.view else { return false }
        return view.isDisabled || view.kind == .button && view.isBusy
    }

    private var focused: WindowTarget? { targets.first { $0.id == focus } }

    private var focusedKey: ViewKey? { if case .view(screen: _, let key) = focus { key } else { nil } }

    /// The lines of the focused target.
    private var focusedLines: ClosedRange<Int>? { focus.flatMap { extent(of: $0) } }

    private func extent(of target: WindowTarget.ID) -> ClosedRange<Int>? {
        let holds = { (line: TextLine) in line.spans.contains { $0.target == target } }
        guard let first = body.lines.firstIndex(where: holds) else { return nil }
        return first...(body.lines.lastIndex(where: holds) ?? first)
    }

    /// Scrolls until the focused target is visible.
    private mutating func reveal() {
        if let extent = focusedLines {
            if extent.upperBound >= place.top + bodyRows { place.top = extent.upperBound - bodyRows + 1 }
            if extent.lowerBound < place.top { place.top = extent.lowerBound }
            // The lines above the first target belong to it.
            if focus == targets.first?.id, extent.upperBound < bodyRows { place.top = 0 }
        }
        clamp()
    }

    private mutating func clamp() { place.top = max(0, min(place.top, body.lines.count - bodyRows)) }

    private mutating func scroll(by lines: Int) {
        place.top += lines
        clamp()
    }

    /// Moves the focus to the next target or the one before, or scrolls where the next one is far away.
    private mutating func move(by step: Int) {
        let current = targets.firstIndex { $0.id == focus }
        let former = focus == nil ? nil : place.index + min(step, 0)
        let next = current.map { $0 + step } ?? former ?? (step > 0 ? 0 : targets.count - 1)
        guard targets.indices.contains(next), let extent = self.extent(of: targets[next].id) else {
            return scroll(by: step)
        }
        if extent.lowerBound >= place.top + 2 * bodyRows || extent.upperBound < place.top - bodyRows {
            return scroll(by: step * max(1, bodyRows - 1))
        }
        place.focus = targets[next].id
        reveal()
    }

    /// Scrolls by a page, and moves the focus to the first visible target.
    private mutating func turn(by lines: Int) {
        scroll(by: lines)
        for line in body.lines.dropFirst(place.top).prefix(bodyRows) {
            for span in line.spans where targets.contains(where: { $0.id == span.target }) {
                return place.focus = span.target
            }
        }
    }

    // MARK: Keys

    /// Performs keys that were pressed together, and returns their result.
    mutating func press(_ keys: [TerminalKey]) -> Outcome {
        var actions: [WindowAction] = [], rest = keys[...]
        while !rest.isEmpty {
            guard case .act(let new) = edit(with: &rest) ?? use(rest.removeFirst()) else { return .quit }
            actions += new
        }
        return .act(actions)
    }

    /// Enters what is typed in the focused field, in one step; returns `nil` if no key is meant for a field.
    private mutating func edit(with keys: inout ArraySlice<TerminalKey>) -> Outcome? {
        guard let view = focused?.view, view.kind == .field, let key = focusedKey, let front = drawing.front else {
            return nil
        }
        let former = entered[front.number][key] ?? view.value
        var value = former
        let rest = keys.drop { $0.edit(&value, isMultiline: view.content == .multiline) }
        guard rest.count < keys.count else { return nil }
        keys = rest
        guard value != former else { return .act([]) }
        entered.enter(value, in: key, of: front)
        isEditing = true
        lay()
        reveal()
        return .act(view.isLive ? change(key, to: value) : [])
    }

    private mutating func use(_ key: TerminalKey) -> Outcome {
        switch key {
        case .interrupt: return .quit
        case .up, .backTab: return leaving { $0.move(by: -1) }
        case .down, .tab: return leaving { $0.move(by: 1) }
        case .pageUp: return leaving { $0.turn(by: -max(1, $0.bodyRows - 1)) }
        case .pageDown: return leaving { $0.turn(by: max(1, $0.bodyRows - 1)) }
        case .home: return leaving { $0.turn(by: -$0.body.lines.count) }
        case .end: return leaving { $0.turn(by: $0.body.lines.count) }
        case .escape: return escape()
        case .left, .right: return turnChoice(by: key == .left ? -1 : 1)
        case .enter: return enter()
        case .backspace, .clear: return .act([])
        case .character(let character): return insert(character)
        }
    }

    /// Leaves a field, sends its change if it has not been sent, and runs a function.
    private mutating func leaving(_ body: (inout TerminalScreen) -> Void) -> Outcome {
        let actions = endEditing()
        body(&self)
        return .act(actions)
    }

    private mutating func endEditing() -> [WindowAction] {
        defer { isEditing = false }
        guard isEditing, let view = focused?.view, !view.isLive, let key = focusedKey else { return [] }
        return change(key, to: entered[frontNumber][key] ?? view.value)
    }

    private var frontNumber: Int { drawing.front?.number ?? 0 }

    private func change(_ key: ViewKey, to value: String) -> [WindowAction] {
        let target = WindowTarget.ID.view(screen: frontNumber, key)
        return [drawing.action(of: target, value: value, drafts: entered[frontNumber])].compactMap(\.self)
    }

    private mutating func escape() -> Outcome {
        if drawing.alert != nil { return .act([.dismissAlert]) }
        let actions = endEditing()
        guard focused?.view?.kind == .field else { return .act(drawing.wayBack == nil ? [] : [.goBack]) }
        place.focus = nil
        return .act(actions)
    }

    private mutating func enter() -> Outcome {
        guard let focused else { return .act([]) }
        guard let view = focused.view, let key = focusedKey else {
            return .act([drawing.action(of: focused.id)].compactMap(\.self))
        }
        switch view.kind {
        case .field:
            let value = entered[frontNumber][key] ?? view.value
            let submission = drawing.front?.event(.submit, of: key, value: value, drafts: entered[frontNumber])
            return .act(
                endEditing() + [submission.map { WindowAction.send($0, screen: frontNumber) }].compactMap(\.self))
        case .choice: return turnChoice(by: 1)
        case .toggle: return .act(change(key, to: view.value == "true" ? "false" : "true"))
        default:
            return .act([drawing.action(of: focused.id, drafts: entered[frontNumber])].compactMap(\.self))
        }
    }

    private mutating func insert(_ character: Character) -> Outcome {
        switch character {
        case " ": return enter()
        case "q", "Q": return .quit
        case "1"..."9" where !coversTabs:
            let tab = WindowTarget.ID.tab((character.wholeNumberValue ?? 0) - 1)
            return .act([drawing.action(of: tab)].compactMap(\.self))
        default: return .act([])
        }
    }

    /// Chooses the next option of the focused choice or the one before, or moves the focus.
    private mutating func turnChoice(by step: Int) -> Outcome {
        guard let view = focused?.view, view.kind == .choice, let key = focusedKey else {
            guard focused?.view?.kind != .field else { return .act([]) }
            return leaving { $0.move(by: step) }
        }
        guard !view.options.isEmpty else { return .act([]) }
        let index = view.options.firstIndex { $0.value == view.value } ?? (step > 0 ? -1 : 0)
        let count = view.options.count
        return .act(change(key, to: view.options[(index + step + count) % count].value))
    }

    // MARK: Appearance

    /// A Boolean value that indicates whether the tabs cannot be selected.
    private var coversTabs: Bool { drawing.alert != nil || drawing.modal != nil }

    /// The lines above the body: the tabs and the title, as far as there is room.
    private var header: [TextLine] {
        var lines: [TextLine] = []
        if !drawing.tabs.isEmpty, size.rows >= 4 { lines.append(tabs) }
        guard drawing.alert == nil, let front = drawing.front, size.rows >= 3 else { return lines }
        let title = front.hasOwnTitle ? "" : front.heading.onOneLine
        var line = TextLine([TextSpan(title, .heading)])
        if let wayBack = drawing.wayBack?.onOneLine {
            // The way back is shortened if there is no room for both.
            let isShort = !title.isEmpty && line.width + wayBack.displayWidth + 4 > size.columns
            line = TextLine([TextSpan(isShort ? "‹ " : "‹ \(wayBack)  ", .faint)] + line.spans)
        }
        if line.width > 0 { lines.append(line) }
        if size.rows >= 10, !lines.isEmpty { lines.append(TextLine()) }
        return lines
    }

    /// The tabs: the selected one with its title, and the others with theirs if there is room.
    private var tabs: TextLine {
        func line(hasTitles: Bool) -> TextLine {
            TextLine(
                drawing.tabs.enumerated().map { index, tab in
                    let title = (tab.title.isEmpty ? tab.identifier : tab.title).onOneLine
                    guard index == drawing.selected else {
                        return TextSpan(hasTitles ? " \(index + 1) \(title) " : " \(index + 1) ", .faint)
                    }
                    return TextSpan("[\(index + 1) \(title)]", coversTabs ? .faint : .strong)
                })
        }
        let whole = line(hasTitles: true)
        return whole.width <= size.columns ? whole : line(hasTitles: false)
    }

    /// The lines below the body: the effects of keys, without the first ones if there is no room.
    private var footer: [TextLine] {
        guard size.rows >= 6 else { return [] }
        var hints = hints, text = hints.joined(separator: "  ")
        while text.displayWidth > size.columns, hints.count > 1 {
            hints.removeFirst()
            text = hints.joined(separator: "  ")
        }
        return [TextLine([TextSpan(text, .faint)])]
    }

    private var hints: [String] {
        let rows = max(1, size.rows - header.count - 1), isLong = body.lines.count > rows
        var hints: [String] = []
        if !targets.isEmpty { hints.append("↑↓ move") } else if isLong { hints.append("↑↓ scroll") }
        switch focused?.view?.kind {
        case .field:
            hints.append(focused?.view?.content == .multiline ? "return new line" : "return submit")
            hints.append("esc leave")
        case let kind:
            if kind == .choice { hints.append("←→ choose") } else if focused != nil { hints.append("return use") }
            if drawing.alert != nil { hints.append("esc close") }
            if drawing.alert == nil, drawing.wayBack != nil { hints.append("esc back") }
            if drawing.tabs.count > 1, !coversTabs { hints.append("1-\(min(9, drawing.tabs.count)) tabs") }
            hints.append("q quit")
        }
        if isLong { hints.append("\(place.top + 1)-\(min(place.top + rows, body.lines.count))/\(body.lines.count)") }
        if drawing.isLoading { hints.append("…") }
        return hints
    }

    private var bodyRows: Int { max(1, size.rows - header.count - footer.count) }

    /// The lines of the terminal: one for each row, and none wider than the terminal.
    var lines: [TextLine] {
        let visible = Array(body.lines.dropFirst(place.top).prefix(bodyRows))
        let rest = [TextLine](repeating: TextLine(), count: bodyRows - visible.count)
        return (header + visible + rest + footer).prefix(size.rows).map { $0.clipped(to: size.columns) }
    }

    /// Returns a line with the codes for its appearance (ECMA-48, section 8.3.117).
    func styled(_ line: TextLine, colour: Bool) -> String {
        line.spans.map { span in
            var codes: [String] =
                switch span.look {
                case .plain: []
                case .faint: ["2"]
                case .strong, .heading: ["1"]
                case .critical: colour ? ["31"] : ["1"]
                }
            if span.target != nil, span.target == focus { codes.append("7") }
            return codes.isEmpty ? span.text : "\u{1B}[\(codes.joined(separator: ";"))m\(span.text)\u{1B}[0m"
        }.joined()
    }
}
