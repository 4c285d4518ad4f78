package import BackplaneScreens

/// An element of a window that a person can use.
package struct WindowTarget: Sendable, Equatable, Identifiable {
    /// The identity of a target, which remains while the window changes.
    package enum ID: Hashable, Sendable {
        case tab(Int)
        /// The way back to the screen below.
        case back
        /// The button of the alert.
        case alert
        /// A control or a link of a screen.
        case view(screen: Int, ViewKey)
    }
    package var id: ID
    /// The text that identifies the target to a person.
    package var label: String
    /// The control or the link; `nil` for parts of the window itself.
    package var view: View?
    /// The keys of the rows that contain the view, outermost first.
    package var rows: [String] = []
}

/// An action of a person with a target.
package enum WindowAction: Sendable, Equatable {
    case select(tab: Int)
    case goBack
    case dismissAlert
    case send(ViewEvent, screen: Int)
    case follow(Destination, screen: Int)
}

extension Window {
    /// Performs the action of a person, and returns when the window shows the effect.
    package func perform(_ action: WindowAction) async {
        switch action {
        case .select(let tab): await select(tab: tab)
        case .goBack: await goBack()
        case .dismissAlert: dismissAlert()
        case .send(let event, let screen): await send(event, to: screen)
        case .follow(let destination, let screen): await follow(destination, from: screen)
        }
    }
}

extension WindowDrawing {
    /// The targets that nothing covers, in the order in which they are read.
    package var targets: [WindowTarget] {
        if alert != nil { return [WindowTarget(id: .alert, label: "OK")] }
        var targets: [WindowTarget] = []
        if modal == nil {
            for (index, tab) in tabs.enumerated() {
                targets.append(WindowTarget(id: .tab(index), label: tab.title.isEmpty ? tab.identifier : tab.title))
            }
        }
        if let wayBack { targets.append(WindowTarget(id: .back, label: wayBack)) }
        return targets + (front?.targets ?? [])
    }

    /// The text of the way back from the front screen; `nil` for a root.
    package var wayBack: String? { modal.map { $0.wayBack(isModal: true) } ?? screen?.wayBack(isModal: false) }

    /// Returns the action of pressing a button, following a link, entering a value or choosing an option.
    ///
    /// - Parameters:
    ///   - target: The target.
    ///   - value: The new value; `nil` to press or follow something.
    ///   - drafts: The texts in fields that the screen does not know yet.
    /// - Returns: The action; `nil` if the window does not have the target, or the target has no such action.
    package func action(
        of target: WindowTarget.ID, value: String? = nil, drafts: [ViewKey: String] = [:]
    ) -> WindowAction? {
        switch target {
        case .tab(let tab): return tabs.indices.contains(tab) ? .select(tab: tab) : nil
        case .back: return wayBack == nil ? nil : .goBack
        case .alert: return alert == nil ? nil : .dismissAlert
        case .view(let screen, let key):
            guard let front, front.number == screen, let view = front.body.find(key)?.view else { return nil }
            if view.kind == .link { return view.destination.map { .follow($0, screen: screen) } }
            let kind: ViewEvent.Kind = value == nil ? .press : .change
            return front.event(kind, of: key, value: value ?? "", drafts: drafts).map { .send($0, screen: screen) }
        }
    }
}

extension WindowDrawing.Shown {
    /// The controls and links that can be used and that nothing covers, in the order in which they are read.
    package var targets: [WindowTarget] {
        var targets: [WindowTarget] = []
        collect(body.found, to: &targets)
        return targets
    }

    private func collect(_ views: some Sequence<FoundView>, to targets: inout [WindowTarget]) {
        for found in views {
            let view = found.view
            switch view.kind {
            case .button, .field, .choice, .toggle, .link:
                let leadsNowhere = view.kind == .link && view.destination == nil
                if view.isDisabled || view.kind == .button && view.isBusy || leadsNowhere { continue }
                let label = view.text.isEmpty ? view.id : view.text
                targets.append(
                    WindowTarget(id: .view(screen: number, found.key), label: label, view: view, rows: found.rows))
            // The first child covers the others.
            case _ where view.isCovering: collect(found.children.prefix(1), to: &targets)
            default: collect(found.children, to: &targets)
            }
        }
    }

    /// Returns the event of a control, with the values of the controls beside it and around its row.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - key: The key of the control.
    ///   - value: The new value.
    ///   - drafts: The texts in fields that the screen does not know yet.
    /// - Returns: The event; `nil` if there is no such control, or if it has no such event.
    package func event(
        _ kind: ViewEvent.Kind, of key: ViewKey, value: String = "", drafts: [ViewKey: String] = [:]
    ) -> ViewEvent? {
        guard let found = body.find(key) else { return nil }
        var values: [String: String] = [:]
        for target in targets where found.rows.starts(with: target.rows) {
            guard case .view(screen: _, let other) = target.id, let view = target.view else { continue }
            guard [.field, .choice, .toggle].contains(view.kind) else { continue }
            values[view.id] = drafts[other] ?? view.value
        }
        if kind != .press { values[found.view.id] = value }
        return found.event(kind, value: value, values: values)
    }
}
