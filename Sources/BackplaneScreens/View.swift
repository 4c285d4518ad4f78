public import Backplane

/// A part of a screen's body, as data that a host draws in a browser, in a terminal or for a test.
///
/// A screen builds views from elements such as ``Text``, ``List`` and ``Button``, within ``ViewLimits``. In JSON, a
/// view is an object whose only required member is `kind`; members with default values are omitted.
public struct View: Sendable, Equatable {
    /// The form of a view, such as a text, a layout or a control.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Views below each other.
        case column
        /// Views beside each other, which break into lines where there is no room.
        case row
        /// A column below a title.
        case section
        /// Rows with stable keys, below each other.
        case list
        /// Records below the headings of their columns, which are the table's ``View/options``.
        case table
        /// A row of a table: a cell for each column.
        case record
        /// A paragraph.
        case text
        /// A heading of the level 1, 2 or 3.
        case heading
        /// A field for a text.
        case field
        /// A choice of one of several options.
        case choice
        /// A switch that is on or off.
        case toggle
        /// A control with a label that a person presses.
        case button
        /// A link to another screen, or to an address.
        case link
        /// The progress of work, perhaps of unknown length.
        case progress
        /// A picture at an address, with a description for people who cannot see it.
        case image
        /// A view over others: the first child covers the rest.
        case overlay
    }
    /// The appearance of a text or a control.
    public enum Style: String, Codable, Sendable {
        /// The usual appearance of the kind of view.
        case normal
        /// A text or control of less importance.
        case secondary
        /// A text or control of more importance.
        case strong
        /// A text in a fixed-width font.
        case code
        /// A text about an error, or a control that deletes something.
        case critical
    }
    /// The kind of text that a field contains.
    public enum Content: String, Codable, Sendable {
        /// A line of text.
        case text
        /// A text of several lines.
        case multiline
        /// Words to search for.
        case search
        /// A password or the like, which is not shown.
        case secret
        /// A number, for which a phone shows a keyboard of digits.
        case number
        /// An address of electronic mail.
        case email
    }
    /// An option of a choice, or a column of a table.
    public struct Option: Codable, Sendable, Equatable {
        /// The value by which an event names the option.
        public var value: String
        /// The text that is shown.
        public var title: String

        /// Creates an option; its title is its value unless another one is given.
        public init(_ value: String, _ title: String? = nil) { (self.value, self.title) = (value, title ?? value) }
    }
    /// The kind, which determines the members that have a meaning.
    public var kind: Kind
    /// The name of the view in events, and its key among its neighbours, by which it is found again after a change.
    ///
    /// A view without an id is identified by its place among its neighbours.
    public var id = ""
    /// The text; the label of a control; the title of a section; the description of an image.
    public var text = ""
    /// The text of a field; the value of the chosen option; `true` or `false` for a toggle.
    public var value = ""
    /// The text that a field shows while it is empty.
    public var prompt = ""
    /// The problem of a field's value, which is shown beside it.
    public var problem = ""
    /// The level of a heading.
    public var level = 1
    /// The appearance.
    public var style = Style.normal
    /// The kind of text that a field contains.
    public var content = Content.text
    /// A Boolean value that indicates whether a field sends an event for each change, not only when it is completed.
    public var isLive = false
    /// A Boolean value that indicates whether a control or a link cannot be used.
    public var isDisabled = false
    /// A Boolean value that indicates whether a button shows that its work continues.
    public var isBusy = false
    /// The completed part of the work, from 0 to 1; `nil` if it is unknown.
    public var fraction: Double?
    /// The options of a choice, or the columns of a table.
    public var options: [Option] = []
    /// The screen to which a link leads.
    public var destination: Destination?
    /// The address of a link or an image: `https://…` or, for an image, the absolute path of a file.
    public var address = ""
    /// The views that the view contains.
    public var children: [View] = []

    /// Creates a view of a kind.
    public init(_ kind: Kind, id: String = "", text: String = "", children: [View] = []) {
        (self.kind, self.id, self.text, self.children) = (kind, id, text, children)
    }
}

/// A screen to show, with its input.
public struct Destination: Codable, Sendable, Hashable {
    /// The identifier of the screen.
    public var screen: String
    /// The input in JSON.
    public var input: String

    /// Creates the destination of a screen.
    ///
    /// - Throws: `screen.invalid-input` for an input that cannot be written as JSON.
    public init<S: Screen>(_ screen: S.Type, _ input: S.Input) throws(BackplaneError) {
        try self.init(S.identifier, input)
    }

    /// Creates the destination of a screen of another module, by its identifier.
    ///
    /// - Throws: `screen.invalid-input` for an input that cannot be written as JSON.
    public init(_ screen: String, _ input: some Encodable & Sendable = Nothing()) throws(BackplaneError) {
        self.screen = screen
        self.input = String(decoding: try JSON.encodeSorted(input, failing: .screenInvalidInput), as: UTF8.self)
    }
}

// By hand, since synthesised keys would add conformances to every plugin (``TextKey``), and to omit default values.

extension View: Codable {
    /// Decodes a view from an object; only the member `kind` is required.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: TextKey.self)
        kind = try values.decode(Kind.self, forKey: .kind)
        id = try values.decodeIfPresent(String.self, forKey: .id) ?? id
        text = try values.decodeIfPresent(String.self, forKey: .text) ?? text
        value = try values.decodeIfPresent(String.self, forKey: .value) ?? value
        prompt = try values.decodeIfPresent(String.self, forKey: .prompt) ?? prompt
        problem = try values.decodeIfPresent(String.self, forKey: .problem) ?? problem
        level = try values.decodeIfPresent(Int.self, forKey: .level) ?? level
        style = try values.decodeIfPresent(Style.self, forKey: .style) ?? style
        content = try values.decodeIfPresent(Content.self, forKey: .content) ?? content
        isLive = try values.decodeIfPresent(Bool.self, forKey: .isLive) ?? isLive
        isDisabled = try values.decodeIfPresent(Bool.self, forKey: .isDisabled) ?? isDisabled
        isBusy = try values.decodeIfPresent(Bool.self, forKey: .isBusy) ?? isBusy
        fraction = try values.decodeIfPresent(Double.self, forKey: .fraction)
        options = try values.decodeIfPresent([Option].self, forKey: .options) ?? options
        destination = try values.decodeIfPresent(Destination.self, forKey: .destination)
        address = try values.decodeIfPresent(String.self, forKey: .address) ?? address
        children = try values.decodeIfPresent([View].self, forKey: .children) ?? children
    }

    /// Encodes the view as an object of the members that are set.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: TextKey.self)
        try values.encode(kind, forKey: .kind)
        let texts: [(TextKey, String)] = [
            (.id, id), (.text, text), (.value, value), (.prompt, prompt), (.problem, problem),
            (.address, address),
        ]
        for (key, text) in texts where !text.isEmpty { try values.encode(text, forKey: key) }
        let flags: [(TextKey, Bool)] = [(.isLive, isLive), (.isDisabled, isDisabled), (.isBusy, isBusy)]
        for (key, flag) in flags where flag { try values.encode(flag, forKey: key) }
        if level != 1 { try values.encode(level, forKey: .level) }
        if style != .normal { try values.encode(style, forKey: .style) }
        if content != .text { try values.encode(content, forKey: .content) }
        try values.encodeIfPresent(fraction, forKey: .fraction)
        if !options.isEmpty { try values.encode(options, forKey: .options) }
        try values.encodeIfPresent(destination, forKey: .destination)
        if !children.isEmpty { try values.encode(children, forKey: .children) }
    }
}

extension TextKey {
    fileprivate static let kind = TextKey("kind")
    fileprivate static let id = TextKey("id")
    fileprivate static let text = TextKey("text")
    fileprivate static let value = TextKey("value")
    fileprivate static let prompt = TextKey("prompt")
    fileprivate static let problem = TextKey("problem")
    fileprivate static let level = TextKey("level")
    fileprivate static let style = TextKey("style")
    fileprivate static let content = TextKey("content")
    fileprivate static let isLive = TextKey("isLive")
    fileprivate static let isDisabled = TextKey("isDisabled")
    fileprivate static let isBusy = TextKey("isBusy")
    fileprivate static let fraction = TextKey("fraction")
    fileprivate static let options = TextKey("options")
    fileprivate static let destination = TextKey("destination")
    fileprivate static let address = TextKey("address")
    fileprivate static let children = TextKey("children")
}
