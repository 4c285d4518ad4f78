/// An input of a stream that states where the stream begins, so that an interrupted stream can be reopened there.
///
/// ```swift
/// extension FeedQuery: Resumable {
///     public func resuming(after last: Change) -> FeedQuery { FeedQuery(first: last.number + 1) }
/// }
/// ```
///
/// When the provider of such a stream is swapped or restarted, the stream is reopened with the input that follows the
/// last element received by the loop, and the loop continues. No element is lost or repeated if the provider can send
/// every element after that one again. An input that means "from now on" has no position, and its stream is reopened
/// only after its first element: elements sent during an earlier swap would be lost.
public protocol Resumable {
    /// The stream's element.
    associatedtype Element
    /// A Boolean value that indicates whether the input states where the stream begins; `true` by default.
    ///
    /// Without a position, a stream that is interrupted before its first element ends with `stream.interrupted`.
    var hasPosition: Bool { get }
    /// Returns the input of a stream that begins after an element.
    func resuming(after last: Element) -> Self
}

extension Resumable {
    /// The value `true`: the input states where the stream begins.
    public var hasPosition: Bool { true }
}

extension BoundStream where Input: Resumable, Input.Element == Element {
    /// Returns the elements of a stream, which is reopened when its provider is swapped or restarted.
    ///
    /// - Parameters:
    ///   - input: The argument of the stream.
    ///   - call: The frame of the call being served, or one started with `context.begin()`. Its deadline bounds the
    ///     first opening.
    public func callAsFunction(_ input: Input, _ call: Call) -> StreamElements<Element> {
        StreamElements(of: (slot, member), isResumable: true, hasPosition: input.hasPosition) {
            [slot, member] (last, isFirst) async throws(BackplaneError) in
            var call = call
            if !isFirst { call.deadline = nil }
            return try await slot.open(member, last.map(input.resuming(after:)) ?? input, call, Element.self)
        }
    }
}

extension BoundStream where Input: Resumable, Input.Element == Element, Frame == OptionalFrame {
    /// Returns the elements of a stream without a deadline or a trace, which is reopened after interruptions.
    public func callAsFunction(_ input: Input) -> StreamElements<Element> { self(input, Call()) }
}
