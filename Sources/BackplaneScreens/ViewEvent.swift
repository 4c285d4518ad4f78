/// The action of a person on a view of a screen.
public struct ViewEvent: Codable, Sendable, Equatable {
    /// An action of a person: a press, a change or a submission.
    public enum Kind: String, Codable, Sendable {
        /// A button was pressed.
        case press
        /// The value of a field, a choice or a toggle was changed: ``ViewEvent/value`` is the new one.
        case change
        /// A field was completed, with the return key.
        case submit
    }
    /// The action of the person, such as a press.
    public var kind: Kind
    /// The name that the screen gave to the view, such as `borrow`.
    public var id: String
    /// The keys of the rows of lists and tables that contain the view, outermost first.
    public var rows: [String]
    /// The text of a field; the value of the chosen option; `true` or `false` for a toggle; empty for a button.
    public var value: String
    /// The values of the screen's fields, choices and toggles by their ids, as the person sees them.
    ///
    /// A browser without script sends all values with the button that is pressed.
    public var values: [String: String]

    /// Creates the record of an action, as a host or a test sends it to a screen.
    public init(
        _ kind: Kind, _ id: String, rows: [String] = [], value: String = "", values: [String: String] = [:]
    ) {
        (self.kind, self.id, self.rows, self.value, self.values) = (kind, id, rows, value, values)
    }

    /// The key of the innermost row that contains the view; empty outside lists and tables.
    public var row: String { rows.last ?? "" }
}
