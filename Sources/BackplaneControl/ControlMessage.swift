/// What a control socket is asked, and what it answers: both travel as JSON.
///
/// ```swift
/// struct CountShelves: ControlMessage {
///     static let name = "count-shelves"
///     typealias Answer = Int
///     var floor: Int
/// }
/// ```
public protocol ControlMessage: Codable, Sendable {
    associatedtype Answer: Codable & Sendable
    /// What the request is called.
    static var name: String { get }
}

/// How far a request is that takes a while.
public struct ControlEvent: Codable, Sendable, Hashable {
    /// What is being done, in a few words.
    public var text: String

    public init(_ text: String) { self.text = text }

    private enum CodingKeys: String, CodingKey { case text = "text" }
}
