public import Backplane
public import BackplaneApp
import BackplaneScreens
import Synchronization

/// A window without a browser or a terminal, which shows its content as text and is used by the labels of controls.
///
/// ```swift
/// let window = try await TestWindow(AppManager(host.host))
/// try await window.enter("moby", in: "Search")
/// try await window.wait { $0.contains("Moby-Dick") }
/// try await window.press("Borrow", in: "moby-dick")
/// #expect(window.text == "…")
/// ```
///
/// Each action returns once the screen has handled it and the window shows the effect. Errors of screens are alerts of
/// the window. Call ``close()`` at the end, so that its screens are closed.
public final class TestWindow: Sendable {
    /// The window itself.
    public let window: Window
    private let entered = Mutex(EnteredValues())

    /// Opens a window of an application.
    ///
    /// - Throws: The error because of which the first screens cannot be shown.
    public init(_ app: AppManager) async throws(BackplaneError) { window = try await app.makeWindow() }

    /// The content of the window as text, one line below another.
    ///
    ///     (Books)  Loans
    ///     # Books
    ///     Search: [moby]
    ///     • Moby-Dick →  [ Borrow ]
    ///
    /// Buttons that cannot be used are followed by `(busy)` or `(disabled)`. Covered lines begin with `░`, and lines of
    /// the view that covers them begin with `│`.
    public var text: String { self.text(of: window.drawing) }

    /// Closes the window with all its screens, and returns once the screens' sources have been notified.
    public func close() async { await window.close() }

    // MARK: Actions

    /// Presses a button.
    ///
    /// - Parameters:
    ///   - label: The text of the button.
    ///   - row: The key of the row of a list or a table that contains it; `nil` if only one button has the label.
    /// - Throws: ``ControlProblem`` if there is no such button, or several.
    public func press(_ label: String, in row: String? = nil) async throws {
        try await act(try find([.button], "button", label, in: row))
    }

    /// Follows a link to another screen.
    ///
    /// - Parameters:
    ///   - label: The text of the link.
    ///   - row: The key of the row of a list or a table that contains it; `nil` if only one link has the label.
    /// - Throws: ``ControlProblem`` if there is no such link, or several.
    public func follow(_ label: String, in row: String? = nil) async throws {
        try await act(try find([.link], "link", label, in: row))
    }

    /// Enters a text in a field, replacing the current text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - label: The label of the field.
    ///   - row: The key of the row of a list or a table that contains it; `nil` if only one field has the label.
    ///   - submitting: Whether to press the return key afterwards.
    /// - Throws: ``ControlProblem`` if there is no such field, or several.
    public func enter(
        _ text: String, in label: String, row: String? = nil, submitting: Bool = false
    ) async throws {
        let field = try find([.field], "field", label, in: row)
        try await act(field, text)
        guard submitting, case .view(let screen, let key) = field else { return }
        let submission = window.drawing.front?.event(.submit, of: key, value: text, drafts: drafts(of: screen))
        if let submission { await window.send(submission, to: screen) }
    }

    /// Chooses an option.
    ///
    /// - Parameters:
    ///   - option: The title of the option.
    ///   - label: The label of the choice.
    ///   - row: The key of the row of a list or a table that contains it; `nil` if only one choice has the label.
    /// - Throws: ``ControlProblem`` if there is no such choice or option, or several choices.
    public func choose(_ option: String, in label: String, row: String? = nil) async throws {
        let choice = try find([.choice], "choice", label, in: row)
        let options = view(of: choice)?.options ?? []
        guard let value = options.first(where: { $0.title == option })?.value else {
            throw ControlProblem("`\(label)` has no option `\(option)`; options: \(Self.list(options.map(\.title)))")
        }
        try await act(choice, value)
    }

    /// Turns a switch on or off.
    ///
    /// - Parameters:
    ///   - label: The label of the switch.
    ///   - row: The key of the row of a list or a table that contains it; `nil` if only one switch has the label.
    /// - Throws: ``ControlProblem`` if there is no such switch, or several.
    public func toggle(_ label: String, in row: String? = nil) async throws {
        let toggle = try find([.toggle], "switch", label, in: row)
        try await act(toggle, view(of: toggle)?.value == "true" ? "false" : "true")
    }

    /// Goes back to the screen below.
    ///
    /// - Throws: ``ControlProblem`` if there is none, or if something covers the way back.
    public func goBack() async throws {
        guard window.drawing.targets.contains(where: { $0.id == .back }) else {
            throw ControlProblem("there is no way back from “\(window.drawing.front?.title ?? "")”")
        }
        await window.goBack()
    }

    /// Brings the tab with a title to the front.
    ///
    /// - Throws: ``ControlProblem`` if there is no tab of this title, or if something covers the tabs.
    public func select(tab title: String) async throws {
        let tabs = window.drawing.targets.filter { if case .tab = $0.id { true } else { false } }
        guard let tab = tabs.first(where: { $0.label == title }) else {
            throw ControlProblem("there is no tab `\(title)`; tabs: \(Self.list(tabs.map(\.label)))")
        }
        try await act(tab.id)
    }

    /// Removes the alert.
    ///
    /// - Throws: ``ControlProblem`` if there is none.
    public func dismissAlert() throws {
        guard window.drawing.alert != nil else { throw ControlProblem("there is no alert") }
        window.dismissAlert()
    }

    // MARK: Waiting

    /// Waits until the text meets a condition, which is checked after each change of the window, and returns the text.
    ///
    /// - Parameters:
    ///   - limit: The time limit.
    ///   - clock: The clock by which the limit is measured.
    ///   - isReached: The condition.
    /// - Throws: ``ControlProblem``, with the text, if the limit passes or the window is closed before;
    ///   `CancellationError` if the task is cancelled before.
    @discardableResult
    public func wait(
        within limit: Duration = .seconds(60), on clock: any Clock<Duration> = ContinuousClock(),
        until isReached: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let text = try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { [self] in
                var drawing = window.drawing
                while true {
                    let text = self.text(of: drawing)
                    if isReached(text) { return text }
                    guard let next = await window.drawing(after: drawing.revision) else { return nil }
                    drawing = next
                }
            }
            group.addTask {
                try await clock.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        if let text { return text }
        try Task.checkCancellation()
        throw ControlProblem("the condition does not hold; the window shows:\n\(self.text)")
    }

    // MARK: Targets

    private func text(of drawing: WindowDrawing) -> String {
        entered.withLock { entered in
            entered.show(drawing)
            return TextRendering.text(of: drawing, entered)
        }
    }

    private func drafts(of screen: Int) -> [ViewKey: String] {
        let drawing = window.drawing
        return entered.withLock { entered in
            entered.show(drawing)
            return entered[screen]
        }
    }

    private func view(of target: WindowTarget.ID) -> View? {
        window.drawing.targets.first { $0.id == target }?.view
    }

    private func act(_ target: WindowTarget.ID, _ value: String? = nil) async throws {
        let drawing = window.drawing
        if let value, case .view(screen: _, let key) = target, let front = drawing.front {
            entered.withLock { $0.enter(value, in: key, of: front) }
        }
        let drafts = drawing.front.map { self.drafts(of: $0.number) } ?? [:]
        guard let action = drawing.action(of: target, value: value, drafts: drafts) else {
            throw ControlProblem("the window has changed meanwhile:\n\(text)")
        }
        await window.perform(action)
    }

    private func find(
        _ kinds: Set<View.Kind>, _ noun: String, _ label: String, in row: String?
    ) throws -> WindowTarget.ID {
        let drawing = window.drawing
        let all = drawing.targets.filter { $0.view.map { kinds.contains($0.kind) } ?? false }
        let found = all.filter { target in
            target.label == label && (row.map { target.rows.contains($0) } ?? true)
        }
        if found.count == 1 { return found[0].id }
        let place = row.map { " in the row `\($0)`" } ?? ""
        guard found.isEmpty else {
            let rows = found.map { $0.rows.last ?? "outside rows" }
            throw ControlProblem("\(found.count) \(noun)s have the label `\(label)`\(place): \(Self.list(rows))")
        }
        let labels = all.map { target in
            "`\(target.label)`" + (target.rows.last.map { " in `\($0)`" } ?? "")
        }
        let isThere = drawing.front?.body.allFound.contains { kinds.contains($0.view.kind) && $0.view.text == label }
        throw ControlProblem(
            "there is no \(noun) `\(label)`\(place)" + (isThere == true ? " that can be used" : "")
                + (drawing.alert == nil ? "" : " below the alert")
                + "; \(noun)s that can be used: " + (labels.isEmpty ? "none" : labels.joined(separator: ", ")))
    }

    private static func list(_ labels: [String]) -> String {
        labels.isEmpty ? "none" : labels.map { "`\($0)`" }.joined(separator: ", ")
    }
}

/// The reason why a ``TestWindow`` cannot do something, with the labels that exist.
public struct ControlProblem: Error, Sendable, CustomStringConvertible {
    /// The reason.
    public let description: String

    init(_ description: String) { self.description = description }
}
