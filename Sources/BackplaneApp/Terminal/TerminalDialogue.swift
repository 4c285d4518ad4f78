import BackplaneScreens

/// The dialogue with a person or a program through a pipe: a window as text with numbers, and lines that name them.
///
/// `3` presses or follows the target with the number 3, and `3 moby` enters a text or chooses an option there. An empty
/// line shows the window again. `q` ends the dialogue; a second `q` ends it without waiting for the line before.
struct TerminalDialogue: Sendable {
    /// The result of a line.
    enum Outcome: Sendable, Equatable {
        /// The person does something, in order.
        case act([WindowAction])
        /// The window is shown again.
        case show
        /// The line is invalid, for the reason in the text.
        case refuse(String)
        case quit
    }
    private var drawing: WindowDrawing
    private var targets: [WindowTarget] = []
    private var entered = EnteredValues()

    init(_ drawing: WindowDrawing) { self.drawing = drawing }

    /// Returns the text of a drawing; the following lines refer to its numbers.
    mutating func show(_ new: WindowDrawing) -> String {
        drawing = new
        entered.show(new)
        let (text, targets) = TextRendering.numberedText(of: new, entered)
        self.targets = targets
        return text
    }

    /// Interprets a line.
    mutating func read(_ line: String) -> Outcome {
        if line.isEmpty { return .show }
        if line == "q" { return .quit }
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = Int(parts[0]), number >= 1, number <= targets.count else {
            let numbers = targets.isEmpty ? "there is nothing to do" : "write a number from 1 to \(targets.count)"
            return .refuse("`\(parts[0].withoutControls)` is not here; \(numbers), or q to quit")
        }
        return act(targets[number - 1], number, parts.count > 1 ? String(parts[1]) : nil)
    }

    private mutating func act(_ target: WindowTarget, _ number: Int, _ text: String?) -> Outcome {
        var value = text
        switch target.view?.kind {
        case .field: if text == nil { return .refuse("write `\(number) TEXT` to enter a text") }
        case .choice:
            let options = target.view?.options ?? []
            guard let option = options.first(where: { [$0.title, $0.value].contains(text) }) else {
                let titles = options.map { "`\(number) \($0.title.onOneLine)`" }.joined(separator: ", ")
                return .refuse("write one of \(titles)")
            }
            value = option.value
        case .toggle: value = target.view?.value == "true" ? "false" : "true"
        default: value = nil
        }
        guard case .view(let screen, let key) = target.id, let value, let front = drawing.front else {
            let action = drawing.action(of: target.id, drafts: entered[drawing.front?.number ?? 0])
            return .act([action].compactMap(\.self))
        }
        entered.enter(value, in: key, of: front)
        let drafts = entered[screen]
        var actions = [drawing.action(of: target.id, value: value, drafts: drafts)]
        if target.view?.kind == .field {
            let submission = front.event(.submit, of: key, value: value, drafts: drafts)
            actions.append(submission.map { WindowAction.send($0, screen: screen) })
        }
        return .act(actions.compactMap(\.self))
    }
}
