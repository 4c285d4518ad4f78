/// A request to a control socket and the type of its answer, both of which travel as JSON.
///
/// ```swift
/// struct CountShelves: ControlMessage {
///     static let name = "count-shelves"
///     typealias Answer = Int
///     var floor: Int
/// }
/// ```
public protocol ControlMessage: Codable, Sendable {
    /// The value with which the host answers.
    associatedtype Answer: Codable & Sendable
    /// The name of the request, unique among the requests that a socket answers.
    static var name: String { get }
}

/// A progress report on a request that takes some time.
public struct ControlEvent: Codable, Sendable, Hashable {
    /// A short description of the current activity.
    public var text: String

    /// Creates a progress report.
    public init(_ text: String) { self.text = text }

    private enum CodingKeys: String, CodingKey { case text = "text" }
}
