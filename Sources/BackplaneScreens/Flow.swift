public import Backplane

/// The contract of a manager that decides how the screens of an application are presented.
///
/// The section `screens` of the manifest names the manager. The manager decides from data alone, without access to
/// screens, and the host carries out its decisions.
///
/// ```swift
/// final class LibraryFlow: Manager {
///     typealias Provides = Flow
///
///     init(_ context: Context) {}
///
///     static func methods(_ table: inout Methods) {
///         table.async(\.setup) { _, _, _ in .none }
///         table.async(\.show) { _, request, _ in
///             request.screen?.screen == "loans.borrowed" ? .present() : .push()
///         }
///         table.async(\.dismiss) { _, request, _ in request.modals.isEmpty ? .popToRoot : .pop }
///     }
/// }
/// ```
public struct Flow: Contract {
    /// The version of the contract.
    public static let version: Version = "1.0.0"
    /// Decides what a new window shows; ``FlowDecision/none`` means the root or the tabs of the manifest.
    public let setup = AsyncMethod<FlowRequest, FlowDecision>()
    /// Decides how to show a screen that was requested by another screen or by an address.
    public let show = AsyncMethod<FlowRequest, FlowDecision>()
    /// Decides what happens when a screen requests its dismissal, or a person goes back.
    public let dismiss = AsyncMethod<FlowRequest, FlowDecision>()

    /// Creates the contract.
    public init() {}
}

/// The situation in which a flow decides.
public struct FlowRequest: Codable, Sendable, Equatable {
    /// The screen to show or to dismiss; `nil` when a window is set up.
    public var screen: Destination?
    /// The identifier of the screen that requested it; `nil` for an address, a dismissal and a new window.
    public var source: String?
    /// The identifiers of the tabs' root screens; empty if the window has only one stack.
    public var tabs: [String]
    /// The index of the selected tab.
    public var tab: Int
    /// The identifiers of the screens of the selected stack, the root first.
    public var stack: [String]
    /// The identifiers of the modal screens over the stack, the front one last.
    public var modals: [String]

    /// Creates a request for a decision about a screen, with the state of the window.
    public init(
        _ screen: Destination? = nil, from source: String? = nil, tabs: [String] = [], tab: Int = 0,
        stack: [String] = [], modals: [String] = []
    ) {
        (self.screen, self.source, self.tabs, self.tab, self.stack, self.modals) =
            (screen, source, tabs, tab, stack, modals)
    }
}

/// The answer of a flow: the screens that a window shows next.
public struct FlowDecision: Codable, Sendable, Equatable {
    /// The kind of a decision.
    public enum Action: String, Codable, Sendable {
        /// Nothing is changed; a new window shows what the manifest specifies.
        case none
        /// The screen is shown on top of the selected stack.
        case push
        /// The screen is shown over everything, until it is dismissed.
        case present
        /// The screen is shown instead of the front one; in a new window, as its root.
        case replace
        /// The front screen is dismissed, unless it is a root.
        case pop
        /// All screens above the root of the front stack are dismissed.
        case popToRoot
        /// A tab is selected.
        case select
    }
    /// The kind of the decision.
    public var action: Action
    /// The screen to show instead of the requested screen.
    public var destination: Destination?
    /// The index of the tab to select.
    public var tab: Int?

    /// Creates an action with the screen or the tab that it needs, if any.
    public init(_ action: Action, _ destination: Destination? = nil, tab: Int? = nil) {
        (self.action, self.destination, self.tab) = (action, destination, tab)
    }

    /// The decision to change nothing; in a new window, to show what the manifest specifies.
    public static let none = FlowDecision(.none)
    /// The front screen is dismissed, unless it is a root.
    public static let pop = FlowDecision(.pop)
    /// All screens above the root of the front stack are dismissed.
    public static let popToRoot = FlowDecision(.popToRoot)

    /// Returns the decision to show a screen on top of the selected stack: the requested screen, or another one.
    public static func push(_ destination: Destination? = nil) -> Self { Self(.push, destination) }
    /// Returns the decision to show a screen over everything: the requested screen, or another one.
    public static func present(_ destination: Destination? = nil) -> Self { Self(.present, destination) }
    /// Returns the decision to show a screen instead of the front one: the requested screen, or another one.
    public static func replace(_ destination: Destination? = nil) -> Self { Self(.replace, destination) }
    /// Returns the decision to select a tab.
    public static func select(_ tab: Int) -> Self { Self(.select, tab: tab) }
}
