public import Backplane

/// A screen of a plugin or a program: a final class or an actor that shows something and handles what a person does.
///
/// ```swift
/// actor BookPage: Screen {
///     struct Input: Codable, Sendable { var book: String }
///     static let identifier = "catalogue.book"
///     private let library: Wire<Library>
///     private let agent: Agent
///     private var book: Book
///
///     static func assemble(with input: Input, agent: Agent) async throws -> BookPage {
///         let library = try await agent.resolve(Library.self)
///         return BookPage(library, agent, try await library.book(input.book, agent.call))
///     }
///
///     var title: String { book.title }
///     var body: [View] {
///         Heading(book.title)
///         Button("Borrow", id: "borrow")
///     }
///
///     func handle(_ event: ViewEvent) async throws {
///         guard event.id == "borrow" else { return }
///         try await agent.performSegue(to: "loans.borrowed", data: ["book": book.id])
///     }
/// }
/// ```
///
/// Screens do not depend on each other: they refer to other screens by identifier, and only a flow decides how a screen
/// is presented. Each time that a screen is shown, a new instance is assembled, with an agent of its own.
public protocol Screen: AnyObject, Sendable {
    /// The type of the input with which the screen is assembled. Default: `Nothing`.
    associatedtype Input: Codable & Sendable = Nothing
    /// The type of the place within the screen that survives a swap of its code. Default: `Nothing`.
    associatedtype Position: Codable & Sendable = Nothing
    /// The identifier, such as `catalogue.book`, which must be unique in an application.
    static var identifier: String { get }
    /// Returns a screen that is ready to be shown, for an input and with an agent of its own.
    ///
    /// A segue that is requested here begins once the screen is shown. It is not repeated when the screen is assembled
    /// again after a swap of its code.
    ///
    /// - Throws: Any error. The screen is then not shown, and the error is passed to the code that requested it.
    static func assemble(with input: Input, agent: Agent) async throws -> Self
    /// The title, for the window. Default: the identifier.
    var title: String { get async }
    /// The views, below each other, within ``ViewLimits``; read after each event and each ``Agent/redraw()``.
    @ViewBuilder var body: [View] { get async }
    /// Handles the action of a person. Default: does nothing.
    ///
    /// - Throws: Any error, which the window shows as an alert.
    func handle(_ event: ViewEvent) async throws
    /// The place to keep; read when the screen's code is swapped.
    var position: Position { get async }
    /// Returns to a place, after the screen has been assembled again with the same input.
    func resume(at position: Position) async throws
}

extension Screen {
    /// The identifier.
    public var title: String { get async { Self.identifier } }
    /// Does nothing, by default.
    public func handle(_ event: ViewEvent) async throws {}
    /// Does nothing, by default.
    public func resume(at position: Position) async throws {}
}

extension Screen where Position == Nothing {
    /// The default: the screen has only one place.
    public var position: Nothing { get async { Nothing() } }
}

extension BackplaneError.Code {
    /// Neither a plugin nor the program has a screen with the identifier.
    public static let screenUnknown = Self(rawValue: "screen.unknown")
    /// The input does not have the form that the screen expects.
    public static let screenInvalidInput = Self(rawValue: "screen.invalid-input")
    /// The screen was not assembled in time or not again after a swap, or its window has too many screens.
    public static let screenNotAssembled = Self(rawValue: "screen.not-assembled")
    /// The screen is no longer shown, so that its agent can do nothing.
    public static let screenClosed = Self(rawValue: "screen.closed")
    /// The view of a screen is too large or too deep.
    public static let screenInvalidView = Self(rawValue: "screen.invalid-view")
    /// Two plugins have a screen with the same identifier.
    public static let screenClash = Self(rawValue: "screen.clash")
}
