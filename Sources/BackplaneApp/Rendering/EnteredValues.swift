package import BackplaneScreens

/// The texts that a person has entered in fields but their screens do not show yet, as a browser's forms keep them.
///
/// A text is kept until the screen shows another value than before, or no longer has the field. Choices and switches
/// always have the values that their screens show.
package struct EnteredValues: Sendable, Equatable {
    private struct Entry: Equatable {
        var value: String
        /// The value that the screen showed.
        var former: String
    }
    private var entries: [Int: [ViewKey: Entry]] = [:]

    package init() {}

    /// The values of a screen, by the keys of the views.
    package subscript(screen: Int) -> [ViewKey: String] { entries[screen]?.mapValues(\.value) ?? [:] }

    /// Keeps the text of a field.
    package mutating func enter(_ value: String, in key: ViewKey, of screen: WindowDrawing.Shown) {
        guard let view = screen.body.find(key)?.view, view.kind == .field else { return }
        entries[screen.number, default: [:]][key] = Entry(value: value, former: view.value)
    }

    /// Drops texts that are out of date.
    ///
    /// - Parameters:
    ///   - drawing: The current drawing of the window.
    ///   - edited: The field in which the person is typing, whose text is kept.
    package mutating func show(_ drawing: WindowDrawing, edited: ViewKey? = nil) {
        let shown = [drawing.screen, drawing.modal].compactMap(\.self)
        entries = entries.filter { number, _ in shown.contains { $0.number == number } }
        for screen in shown {
            for (key, entry) in entries[screen.number] ?? [:] {
                let view = screen.body.find(key)?.view
                if let view, key == edited, screen.number == drawing.front?.number {
                    entries[screen.number]?[key]?.former = view.value
                } else if view?.value != entry.former {
                    entries[screen.number]?[key] = nil
                }
            }
        }
    }
}
