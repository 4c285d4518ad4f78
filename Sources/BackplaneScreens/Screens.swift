public import Backplane

/// The contract of a manager that has screens, which a host calls to show them.
///
/// A ``ScreenManager`` implements it with a table of screens. The host chooses a number that identifies each screen.
public struct Screens: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Assembles a screen, and returns its first drawing.
    ///
    /// It throws `screen.unknown`, `screen.invalid-input`, `screen.invalid-view`, or the error of the screen.
    public let open = AsyncMethod<ScreenRequest, ScreenDrawing>()
    /// Streams the changes and requests of an open screen, until it is closed.
    ///
    /// The stream continues automatically after a swap of the code.
    public let changes = StreamMethod<ScreenProgress, ScreenChange>()
    /// Lets a screen handle an event, and returns the revision of its drawing afterwards.
    public let handle = AsyncMethod<ScreenEvent, Int>()
    /// Reports to a screen how a segue that it requested has ended.
    public let end = SyncMethod<SegueEnd, Nothing>()
    /// Closes the screen with a number; its agent can then do nothing.
    public let close = AsyncMethod<Int, Nothing>()

    /// Creates the contract.
    public init() {}
}

/// The screen to assemble.
public struct ScreenRequest: Codable, Sendable {
    /// The number that identifies the open screen, never used for another screen of the host.
    public var number: Int
    /// The identifier of the screen.
    public var screen: String
    /// The input in JSON.
    public var input: String

    /// Creates the request to assemble a screen, which the number then identifies.
    public init(number: Int, screen: String, input: String) {
        (self.number, self.screen, self.input) = (number, screen, input)
    }
}

/// The title and the views that a screen shows.
public struct ScreenDrawing: Codable, Sendable, Equatable {
    /// The number of the drawing, which increases with each one, but not always by 1.
    public var revision: Int
    /// The title for the window.
    public var title: String
    /// The views, below each other.
    public var body: [View]

    /// Creates the content that a window shows for a screen.
    public init(revision: Int, title: String, body: [View]) {
        (self.revision, self.title, self.body) = (revision, title, body)
    }
}

/// The position in the changes of a screen from which to continue, so that none is missed or repeated.
public struct ScreenProgress: Codable, Sendable, Resumable {
    /// The number of the screen.
    public var screen: Int
    /// The number of the latest change: at first, the revision of the drawing that `open` has returned.
    public var revision: Int

    /// Creates the position in a stream of changes after which it continues.
    public init(screen: Int, revision: Int) { (self.screen, self.revision) = (screen, revision) }

    /// Returns the progress after a change.
    public func resuming(after last: ScreenChange) -> ScreenProgress {
        ScreenProgress(screen: screen, revision: last.number)
    }
}

/// A new drawing or a request of a screen; exactly one of the members is set.
public struct ScreenChange: Codable, Sendable {
    /// The content that the screen shows from now on.
    public var drawing: ScreenDrawing?
    /// The request to show another screen; ``Screens/end`` is called once it is shown.
    public var segue: Segue?
    /// The request to dismiss the screen; ``Screens/end`` is called once it is dismissed.
    public var dismissal: Segue.Number?

    /// Creates a message from a screen to its window; set exactly one member.
    public init(drawing: ScreenDrawing? = nil, segue: Segue? = nil, dismissal: Segue.Number? = nil) {
        (self.drawing, self.segue, self.dismissal) = (drawing, segue, dismissal)
    }

    /// The revision of the drawing, or the number of the segue or the dismissal.
    ///
    /// The three are counted together, in the order in which they occur.
    public var number: Int { drawing?.revision ?? segue?.number ?? dismissal ?? 0 }
}

/// The transition from a screen to another one.
public struct Segue: Codable, Sendable {
    /// A number that identifies a request when its end is reported.
    public typealias Number = Int
    /// The number of the segue, unique among the changes of the screen.
    public var number: Number
    /// The screen to show.
    public var destination: Destination

    /// Creates the request for a transition to another screen.
    public init(number: Number, destination: Destination) {
        (self.number, self.destination) = (number, destination)
    }
}

/// The end of a segue or a dismissal.
public struct SegueEnd: Codable, Sendable {
    /// The number of the screen that requested the segue.
    public var screen: Int
    /// The number of the segue.
    public var segue: Segue.Number
    /// The reason why the request failed; `nil` if it succeeded.
    public var error: BackplaneError?

    /// Creates the report to a screen that its request has succeeded, or has failed with an error.
    public init(screen: Int, segue: Segue.Number, error: BackplaneError? = nil) {
        (self.screen, self.segue, self.error) = (screen, segue, error)
    }
}

/// An event of an open screen.
public struct ScreenEvent: Codable, Sendable {
    /// The number of the screen.
    public var screen: Int
    /// The action of a person, such as the press of a button.
    public var event: ViewEvent

    /// Creates a message to an open screen about the action of a person.
    public init(screen: Int, event: ViewEvent) { (self.screen, self.event) = (screen, event) }
}
