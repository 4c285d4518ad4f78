import CBackplane

/// An open stream of this component as its host controls it, regardless of its elements.
///
/// `@unchecked`: it has no state; that of its one subclass is behind a lock.
@usableFromInline
class StreamControl: @unchecked Sendable {
    @usableFromInline
    init() {}

    /// Ends the stream with an error: cancels its body, and ignores further elements from it.
    func end(_ error: BackplaneError) {}

    /// The number of elements that the consumer has taken.
    var taken: UInt64 { 0 }

    /// Answers with the next elements, encoded, or with the stream's end.
    func pull(_ count: Int, _ reply: Reply) {}

    /// Answers when the body has returned.
    func whenReturned(_ reply: Reply) { reply.end(Int32(BP_OK), .empty) }
}

/// A stream that was not opened, because of an error.
final class RefusedStream: StreamControl, @unchecked Sendable {  // constant
    private let error: BackplaneError

    init(_ error: BackplaneError) { self.error = error }

    override func pull(_ count: Int, _ reply: Reply) { reply.end(error) }
}

/// The streams that an instance has open in the encoded lane, by the host's numbers.
struct InstanceStreams {
    // An array: there are few, and a dictionary would make the runtime search every loaded image for `Hashable`.
    private var open: [(id: UInt64, stream: StreamControl)] = []

    mutating func add(_ id: UInt64, _ stream: StreamControl) { open.append((id, stream)) }

    func stream(_ id: UInt64) -> StreamControl? { open.last { $0.id == id }?.stream }

    mutating func remove(_ id: UInt64) -> StreamControl? {
        open.lastIndex { $0.id == id }.map { open.remove(at: $0).stream }
    }
}
