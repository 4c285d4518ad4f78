#if Engines
import BackplaneApp
import BackplaneScreens

/// An action of a person on a page, as a script or a form sends it.
struct ScreenInput: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable {
        case press, change, submit
        /// A link was followed or, without a view, the browser has gone back or forward to an address.
        case link
        /// The alert was removed.
        case alert
    }
    /// The identifier of the tab; `nil` from a form.
    var tab: String?
    var kind: Kind
    /// The id of the view's element: the number of its screen and its key.
    var id: String?
    var value: String?
    /// The values of controls by their names, which are the ids of their views.
    var values: [String: String]?
    /// The address of a link.
    var address: String?

    /// Creates the input from a form; returns `nil` if no button of a page sent the form.
    init?(form: QueryFields, in drawing: WindowDrawing) {
        // Lines end with CRLF in forms, and with LF in screens.
        let values = form.values.filter { HTMLRendering.target(of: $0.key) != nil }
            .compactMapValues { $0.last?.replacing("\r\n", with: "\n") }
        self.values = values
        if form["alert"] != nil {
            kind = .alert
        } else if let id = form["press"] {
            (kind, self.id) = (.press, id)
        } else if let id = form["change"] {
            (kind, self.id, value) = (.change, id, values[id] ?? "")
        } else if form["submit"] != nil, let screen = form["screen"].flatMap({ Int($0) }) {
            // A browser does not say in which field the return key was pressed.
            let fields = drawing.body(of: screen).controls.filter { $0.view.kind == .field }
            let sent = fields.map { (id: "\(screen)/\($0.key)", value: $0.view.value) }
            guard let field = sent.first(where: { values[$0.id, default: $0.value] != $0.value }) ?? sent.first else {
                return nil
            }
            (kind, id, value) = (.submit, field.id, values[field.id] ?? "")
        } else {
            return nil
        }
    }

    /// Returns the event of the view and the number of its screen; `nil` if the view is gone, or cannot be used.
    func event(in drawing: WindowDrawing) -> (screen: Int, event: ViewEvent)? {
        let kinds: [Kind: ViewEvent.Kind] = [.press: .press, .change: .change, .submit: .submit]
        guard let kind = kinds[kind], let target = id.flatMap(HTMLRendering.target(of:)) else { return nil }
        let body = drawing.body(of: target.screen)
        guard let found = body.find(target.key) else { return nil }
        let values = values ?? [:]
        var named: [String: String] = [:]
        if !values.isEmpty {
            for control in body.controls where !control.view.id.isEmpty {
                guard let value = values["\(target.screen)/\(control.key)"] else { continue }
                // Other rows have controls of the same names.
                if found.rows.starts(with: control.rows) { named[control.view.id] = value }
            }
        }
        return found.event(kind, value: value ?? "", values: named).map { (target.screen, $0) }
    }

    /// The number of the screen whose link was followed; `nil` if the link is not in a view.
    var source: Int? { id.flatMap(HTMLRendering.target(of:))?.screen }
}

extension WindowDrawing {
    /// The screens that are shown.
    fileprivate var shown: [Shown] { [screen, modal].compactMap(\.self) }

    /// Returns the body of a screen; empty if it is not shown.
    fileprivate func body(of number: Int) -> [View] { shown.first { $0.number == number }?.body ?? [] }

    /// Returns whether a screen is shown.
    func shows(_ number: Int) -> Bool { shown.contains { $0.number == number } }

    /// Returns the first view of the screens that meets a condition.
    func firstView(where isWanted: (View) -> Bool) -> View? {
        shown.lazy.flatMap { $0.body.allFound }.first { isWanted($0.view) }?.view
    }
}

extension [View] {
    /// The fields, choices and toggles.
    fileprivate var controls: [FoundView] { allFound.filter { [.field, .choice, .toggle].contains($0.view.kind) } }
}
#endif
