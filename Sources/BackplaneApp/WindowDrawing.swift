public import BackplaneScreens

/// The contents of a window at one moment, as a value that a renderer draws.
public struct WindowDrawing: Sendable, Equatable {
    /// An entry of the navigation, which leads to a stack of screens.
    public struct Tab: Sendable, Equatable {
        /// The identifier of the tab's root screen.
        public var identifier: String
        /// The label of the entry; if it is empty, people see the identifier instead.
        public var title: String
    }
    /// A screen in the drawing.
    public struct Shown: Sendable, Equatable {
        /// The number of the open screen, which no other screen of the host has had.
        public var number: Int
        /// The name by which the application knows the screen, such as `catalogue.book`.
        public var identifier: String
        /// The destination with which the screen can be shown again, for its address.
        public var destination: Destination
        /// The heading above the views, unless they begin with one of level 1.
        public var title: String
        /// The views, below each other, within the limits of ``ViewLimits``.
        public var body: [View]
        /// The number of the drawing of the screen.
        public var revision: Int
        /// The title of the screen below, to which a person can go back; `nil` for a root.
        public var back: String?
    }
    /// A message over everything, with one button.
    public struct Alert: Sendable, Equatable {
        /// The summary of the failure, with the name of the screen.
        public var title: String
        /// The location of the error, if it is known, and the reason.
        public var message: String
    }
    /// The number of the drawing of the window, which increases with each drawing.
    public var revision: Int
    /// The tabs; empty if the window has only one stack of screens.
    public var tabs: [Tab]
    /// The index of the selected tab.
    public var selected: Int
    /// The top of the selected stack; `nil` before the window is set up.
    public var screen: Shown?
    /// The top modal screen over the selected stack, if any.
    public var modal: Shown?
    /// The message that covers everything until a person dismisses it; `nil` if there is none.
    public var alert: Alert?
    /// A Boolean value that indicates whether the host loads something from the network.
    public var isLoading: Bool

    /// The screen in front: the modal one, or else the top of the stack.
    public var front: Shown? { modal ?? screen }
}
