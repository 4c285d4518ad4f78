public import Backplane

/// A part of a body, which is data once it is built: ``Text``, ``Button`` and so on, or a ``View`` itself.
public protocol ViewElement: Sendable {
    /// The element as data.
    var view: View { get }
}

extension View: ViewElement {
    /// The view itself.
    public var view: View { self }
}

extension ViewElement {
    /// Returns the view with an id: its name in events, and its key among its neighbours.
    public func id(_ id: String) -> View { changed { $0.id = id } }
    /// Returns the view with another appearance.
    public func style(_ style: View.Style) -> View { changed { $0.style = style } }
    /// Returns the control, disabled if the condition is met.
    public func disabled(_ isDisabled: Bool = true) -> View { changed { $0.isDisabled = isDisabled } }
    /// Returns the button; if the condition is met, it shows that its work continues, and cannot be pressed.
    public func busy(_ isBusy: Bool = true) -> View { changed { $0.isBusy = isBusy } }
    /// Returns the field with the problem of its value; `nil` means that there is none.
    public func problem(_ problem: String?) -> View { changed { $0.problem = problem ?? "" } }
    /// Returns the field, which sends an event for each change, not only when it is completed.
    public func live() -> View { changed { $0.isLive = true } }

    private func changed(_ change: (inout View) -> Void) -> View {
        var view = view
        change(&view)
        return view
    }
}

// MARK: Texts

/// A paragraph.
public struct Text: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a paragraph.
    public init(_ text: String) { view = View(.text, text: text) }
}

/// A heading of the level 1, 2 or 3.
public struct Heading: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a title for the views that follow, at level 1 (the main one), 2 or 3.
    public init(_ text: String, level: Int = 1) {
        var view = View(.heading, text: text)
        view.level = level
        self.view = view
    }
}

/// A picture with a description for people who cannot see it.
public struct Image: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a picture at an address, with a text for people who cannot see it.
    ///
    /// - Parameters:
    ///   - address: An address such as `https://…`, or the absolute path of a file.
    ///   - description: The text for people who cannot see the image; empty for a decoration.
    public init(_ address: String, description: String) {
        var view = View(.image, text: description)
        view.address = address
        self.view = view
    }
}

/// The progress of work.
public struct ProgressBar: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates an indicator of the completed part of some work, with a label.
    ///
    /// - Parameters:
    ///   - text: The label.
    ///   - fraction: The completed part of the work, from 0 to 1; `nil` if it is unknown.
    public init(_ text: String = "", fraction: Double? = nil) {
        var view = View(.progress, text: text)
        view.fraction = fraction
        self.view = view
    }
}

// MARK: Layouts

/// Views below each other.
public struct Column: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a layout of views below each other.
    public init(@ViewBuilder _ views: () -> [View]) { view = View(.column, children: views()) }
}

/// Views beside each other, which break into lines where there is no room.
public struct Row: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a layout of views beside each other, in as many lines as they need.
    public init(@ViewBuilder _ views: () -> [View]) { view = View(.row, children: views()) }
}

/// Views below a title.
public struct Section: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a group of views below a title.
    public init(_ title: String, @ViewBuilder _ views: () -> [View]) {
        view = View(.section, text: title, children: views())
    }
}

/// Rows with stable keys, below each other.
///
/// ```swift
/// List(books, id: \.id) { book in
///     Text(book.title)
///     Button("Borrow", id: "borrow")          // event.row is the book's id
/// }
/// ```
public struct List: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a list with a row for each item.
    ///
    /// A row of several views is a ``Row`` of them.
    ///
    /// - Parameters:
    ///   - items: The items.
    ///   - id: The path of an item's key, which must be unique.
    ///   - row: A function that returns the views of a row.
    public init<Items: Sequence, ID: CustomStringConvertible>(
        _ items: Items, id: KeyPath<Items.Element, ID>, @ViewBuilder row: (Items.Element) -> [View]
    ) {
        view = View(
            .list,
            children: items.map { item in
                let views = row(item), key = item[keyPath: id].description
                guard views.count == 1, views[0].id.isEmpty else { return View(.row, id: key, children: views) }
                return views[0].id(key)
            })
    }

    /// Creates a list with a row for each item, whose key is the item's `id`.
    public init<Items: Sequence>(_ items: Items, @ViewBuilder row: (Items.Element) -> [View])
    where Items.Element: Identifiable, Items.Element.ID: CustomStringConvertible {
        self.init(items, id: \.id, row: row)
    }

    /// Creates a list of rows, whose keys are their ids.
    public init(@ViewBuilder _ rows: () -> [View]) { view = View(.list, children: rows()) }
}

/// Records below the headings of their columns.
///
/// ```swift
/// Table(["Title", "Year"]) {
///     for book in books {
///         Record(id: book.id) {
///             Text(book.title)
///             Text("\(book.year)")
///         }
///     }
/// }
/// ```
public struct Table: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a grid with a heading for each column and a line for each record.
    ///
    /// - Parameters:
    ///   - columns: The headings of the columns.
    ///   - records: A function that returns the records, each with a cell for each column.
    public init(_ columns: [String], @ViewBuilder _ records: () -> [View]) {
        var view = View(.table, children: records())
        view.options = columns.map { View.Option($0) }
        self.view = view
    }
}

/// A row of a table: a cell for each column.
public struct Record: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a record with a key, which must be unique in the table.
    public init(id: String, @ViewBuilder _ cells: () -> [View]) {
        view = View(.record, id: id, children: cells())
    }
}

/// A view over others, such as a message while they cannot be used.
///
/// ```swift
/// Overlay {
///     ProgressBar("Loading")
/// } over: {
///     List(books, id: \.id) { Text($0.title) }
/// }
/// ```
public struct Overlay: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a layer of views that covers others; an empty layer covers nothing.
    ///
    /// - Parameters:
    ///   - views: A function that returns the views in front, below each other.
    ///   - covered: A function that returns the covered views.
    public init(@ViewBuilder _ views: () -> [View], @ViewBuilder over covered: () -> [View]) {
        view = View(.overlay, children: [View(.column, children: views())] + covered())
    }
}

// MARK: Controls

/// A control with a label, whose press is an event of the screen.
public struct Button: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a button with a label and the name in its events.
    public init(_ text: String, id: String) { view = View(.button, id: id, text: text) }
}

/// A field for a text.
public struct Field: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a control with a label, in which a person enters a text.
    ///
    /// - Parameters:
    ///   - text: The label.
    ///   - id: The name in events.
    ///   - value: The text in the field.
    ///   - prompt: The text that the field shows while it is empty.
    ///   - content: The kind of text.
    public init(
        _ text: String, id: String, value: String = "", prompt: String = "", content: View.Content = .text
    ) {
        var view = View(.field, id: id, text: text)
        (view.value, view.prompt, view.content) = (value, prompt, content)
        self.view = view
    }
}

/// A choice of one of several options.
public struct Choice: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a control with a label, in which a person selects one of the options.
    ///
    /// - Parameters:
    ///   - text: The label.
    ///   - id: The name in events.
    ///   - value: The value of the chosen option.
    ///   - options: The options.
    public init(_ text: String, id: String, value: String, options: [View.Option]) {
        var view = View(.choice, id: id, text: text)
        (view.value, view.options) = (value, options)
        self.view = view
    }
}

/// A switch that is on or off.
public struct Toggle: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a switch with a label and the name in its events.
    public init(_ text: String, id: String, isOn: Bool) {
        var view = View(.toggle, id: id, text: text)
        view.value = isOn ? "true" : "false"
        self.view = view
    }
}

/// A link to another screen, or to an address.
///
/// If the input of a screen cannot be written as JSON, the link is disabled, and ``View/problem`` has the reason.
public struct Link: ViewElement {
    /// The element as data.
    public let view: View

    /// Creates a link to a destination.
    public init(_ text: String, to destination: Destination) { self.init(text) { destination } }

    /// Creates a link to a screen of the same module.
    public init<S: Screen>(_ text: String, to screen: S.Type, _ input: S.Input) {
        self.init(text) { () throws(BackplaneError) in try Destination(screen, input) }
    }

    /// Creates a link to a screen of any module, by its identifier.
    public init(_ text: String, to screen: String, _ input: some Encodable & Sendable = Nothing()) {
        self.init(text) { () throws(BackplaneError) in try Destination(screen, input) }
    }

    /// Creates a link to an address such as `https://…`.
    public init(_ text: String, address: String) {
        var view = View(.link, text: text)
        view.address = address
        self.view = view
    }

    private init(_ text: String, _ destination: () throws(BackplaneError) -> Destination) {
        var view = View(.link, text: text)
        do throws(BackplaneError) { view.destination = try destination() } catch {
            view = view.disabled().problem(error.message)
        }
        self.view = view
    }
}
