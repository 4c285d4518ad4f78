public import Backplane

/// The contract of a manager that has screens, which a host calls to show them.
///
/// A ``ScreenManager`` implements it with a table of screens. A screen is known by a number that the host chooses.
public struct Screens: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Assembles a screen, and returns what it shows.
    ///
    /// It throws `screen.unknown`, `screen.invalid-input`, `screen.invalid-view`, or the error of the screen.
    public let open = AsyncMethod<ScreenRequest, ScreenDrawing>()
    /// Streams what an open screen wants, until it is closed.
    ///
    /// The stream continues by itself when the code is swapped.
    public let changes = StreamMethod<ScreenProgress, ScreenChange>()
    /// Lets a screen handle an event, and returns the revision of its drawing afterwards.
    public let handle = AsyncMethod<ScreenEvent, Int>()
    /// Tells a screen how a segue that it requested has ended.
    public let end = SyncMethod<SegueEnd, Nothing>()
    /// Closes the screen with a number, after which its agent can do nothing.
    public let close = AsyncMethod<Int, Nothing>()

    /// Creates the contract.
    public init() {}
}

/// The screen to assemble.
public struct ScreenRequest: Codable, Sendable {
    /// The number by which the open screen is known, which no other screen of the host has had.
    public var number: Int
    /// The identifier of the screen.
    public var screen: String
    /// The input in JSON.
    public var input: String

    /// Creates the order to assemble a screen, which is known by the number from then on.
    public init(number: Int, screen: String, input: String) {
        (self.number, self.screen, self.input) = (number, screen, input)
    }
}

/// What a screen shows.
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

/// The change of a screen after which the next ones are wanted, so that none is missed or repeated.
public struct ScreenProgress: Codable, Sendable, Resumable {
    /// The number of the screen.
    public var screen: Int
    /// The number of the latest change: at first, the revision of the drawing that `open` has returned.
    public var revision: Int

    /// Creates the position in a stream of changes after which the next ones are sent.
    public init(screen: Int, revision: Int) { (self.screen, self.revision) = (screen, revision) }

    /// Returns the progress after a change.
    public func resuming(after last: ScreenChange) -> ScreenProgress {
        ScreenProgress(screen: screen, revision: last.number)
    }
}

/// What a screen wants: exactly one of the members is set.
public struct ScreenChange: Codable, Sendable {
    /// The screen shows something else.
    public var drawing: ScreenDrawing?
    /// The screen wants another one to be shown; ``Screens/end`` is called once it is.
    public var segue: Segue?
    /// The screen wants to be dismissed; ``Screens/end`` is called once it is.
    public var dismissal: Segue.Number?

    /// Creates a message from a screen to its window, of which you set exactly one member.
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
    /// A number by which the one who requested something learns of its end.
    public typealias Number = Int
    /// The number of the segue, which no other change of the screen has.
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
    /// The number of the screen that requested it.
    public var screen: Int
    /// The number of the segue.
    public var segue: Segue.Number
    /// The error for which the other screen is not shown; `nil` if it is.
    public var error: BackplaneError?

    /// Creates the report to a screen that its request has succeeded, or with the error for which it has not.
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
