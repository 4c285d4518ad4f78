import CBackplane
import FoundationEssentials
public import Synchronization

/// The hand-over between the body of a stream and its only consumer.
///
/// In the native lane nothing is buffered: an element passes from the body's task to the consumer's, and each waits for
/// the other. In the encoded lane up to ``batch`` elements are buffered until the consumer requests a batch.
@usableFromInline
final class StreamChannel<Element: Sendable>: StreamControl, @unchecked Sendable {  // all state is behind the lock
    /// A function that encodes a batch; `nil` in the native lane.
    typealias Encode = @Sendable ([Element]) throws(BackplaneError) -> Data

    /// The consumer while it waits.
    @usableFromInline
    enum Reader: Sendable {
        case task(UnsafeContinuation<Element?, Never>)
        case batch(Int, Reply)
    }
    /// A sending task that waits until its element has been taken (`true`) or can no longer be taken (`false`).
    @usableFromInline
    struct Sender: Sendable {
        @usableFromInline let element: Element
        @usableFromInline let continuation: UnsafeContinuation<Bool, Never>

        @inlinable
        init(_ element: Element, _ continuation: UnsafeContinuation<Bool, Never>) {
            (self.element, self.continuation) = (element, continuation)
        }
    }
    /// The reason why there are no more elements.
    @usableFromInline
    enum Ending: Sendable {
        case finished
        case failed(BackplaneError)
    }
    @usableFromInline
    struct State: Sendable {
        /// The elements that were sent but not yet requested.
        @usableFromInline var kept: [Element] = []
        /// The number of elements that were handed to the consumer.
        @usableFromInline var taken: UInt64 = 0
        @usableFromInline var sender: Sender?
        /// The senders after the first one, of a body that sends from several tasks.
        @usableFromInline var senders: [Sender] = []
        @usableFromInline var reader: Reader?
        @usableFromInline var ending: Ending?
        var isClosed = false
        var hasReturned = false
        var task: Task<Void, Never>?
        /// The reply to send when the body has returned.
        var watcher: Reply?

        @inlinable
        init() {}
    }
    @usableFromInline let state = Mutex(State())
    private let encode: Encode?
    /// The number of elements that are buffered.
    @usableFromInline let capacity: Int

    /// The maximum number of elements in an encoded batch.
    static var batch: Int { 64 }

    init(encoding encode: Encode?) {
        self.encode = encode
        capacity = encode == nil ? 0 : Self.batch
        super.init()
    }

    // MARK: Sending

    /// The result of an attempt to hand an element over.
    @usableFromInline
    enum Offer: Sendable {
        case taken
        case handed(UnsafeContinuation<Element?, Never>)
        case asked(Reply)
        case mustWait
        case refused
    }

    @inlinable
    nonisolated(nonsending) func send(_ element: Element) async throws(BackplaneError) {
        switch state.withLock({ offer(element, &$0) }) {
        case .taken: return
        case .handed(let continuation): continuation.resume(returning: element)
        case .asked(let reply): answer([element], reply)
        case .mustWait: try await wait(element)
        case .refused: throw refusal()
        }
    }

    @inlinable
    nonisolated(nonsending) func wait(_ element: Element) async throws(BackplaneError) {
        let isTaken = await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
            let offer = state.withLock { state -> Offer in
                let offer = self.offer(element, &state)
                guard case .mustWait = offer else { return offer }
                if state.sender == nil {
                    state.sender = Sender(element, continuation)
                } else {
                    state.senders.append(Sender(element, continuation))
                }
                return offer
            }
            switch offer {
            case .mustWait: return
            case .refused: return continuation.resume(returning: false)
            case .taken: break
            case .handed(let reader): reader.resume(returning: element)
            case .asked(let reply): answer([element], reply)
            }
            continuation.resume(returning: true)
        }
        if !isTaken { throw refusal() }
    }

    @inlinable
    func offer(_ element: Element, _ state: inout State) -> Offer {
        guard state.ending == nil else { return .refused }
        if let reader = state.reader {
            state.reader = nil
            state.taken &+= 1
            switch reader {
            case .task(let continuation): return .handed(continuation)
            case .batch(_, let reply): return .asked(reply)
            }
        }
        guard state.sender == nil, state.kept.count < capacity else { return .mustWait }
        state.kept.append(element)
        return .taken
    }

    @inline(never) @usableFromInline
    func refusal() -> BackplaneError {
        let (isClosed, task) = state.withLock { ($0.isClosed, $0.task) }
        guard isClosed else {
            return BackplaneError(.streamMisused, "the stream has ended, because its body has returned")
        }
        // The thread that ends the stream may not have cancelled the task yet.
        task?.cancel()
        return .streamCancelled
    }

    @usableFromInline var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Receiving

    /// Returns the next element, or `nil` after the last one.
    @inlinable
    nonisolated(nonsending) func next() async throws(BackplaneError) -> Element? {
        if let sender = state.withLock({ takeSender(&$0) }) {
            sender.continuation.resume(returning: true)
            return sender.element
        }
        return try await waitForNext()
    }

    @inlinable
    nonisolated(nonsending) func waitForNext() async throws(BackplaneError) -> Element? {
        let element = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Element?, Never>) in
                let (sender, isOver) = state.withLock { state -> (Sender?, Bool) in
                    if let sender = takeSender(&state) { return (sender, false) }
                    guard state.ending == nil else { return (nil, true) }
                    state.reader = .task(continuation)
                    return (nil, false)
                }
                if let sender {
                    sender.continuation.resume(returning: true)
                    continuation.resume(returning: sender.element)
                } else if isOver {
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            cancelReading()
        }
        if let element { return element }
        if let error = failure() { throw error }
        return nil
    }

    @inline(never) @usableFromInline
    func cancelReading() { end(.streamCancelled) }

    @inlinable
    func takeSender(_ state: inout State) -> Sender? {
        guard let sender = state.sender else { return nil }
        state.taken &+= 1
        state.sender = state.senders.isEmpty ? nil : state.senders.removeFirst()
        return sender
    }

    @inline(never) @usableFromInline
    func failure() -> BackplaneError? {
        state.withLock { if case .failed(let error)? = $0.ending { error } else { nil } }
    }

    /// The result of a request for a batch.
    private enum Pull: Sendable {
        case waits
        case refused
        case elements([Element], [Sender])
        case over(Ending)
    }

    override var taken: UInt64 { state.withLock { $0.taken } }

    override func pull(_ count: Int, _ reply: Reply) {
        let step = state.withLock { state -> Pull in
            guard state.reader == nil else { return .refused }
            guard state.kept.isEmpty else {
                let elements = Array(state.kept.prefix(max(count, 1)))
                state.kept.removeFirst(elements.count)
                var taken: [Sender] = []
                while state.kept.count < capacity, let sender = takeSender(&state) {
                    state.kept.append(sender.element)
                    taken.append(sender)
                }
                return .elements(elements, taken)
            }
            if let ending = state.ending { return .over(ending) }
            state.reader = .batch(count, reply)
            return .waits
        }
        switch step {
        case .waits: break
        case .refused: reply.end(.streamReadTwiceAtOnce)
        case .elements(let elements, let senders):
            for sender in senders { sender.continuation.resume(returning: true) }
            answer(elements, reply)
        case .over(let ending): Self.end(reply, ending)
        }
    }

    /// Answers with a batch or, if it cannot be encoded, with the elements before the first one that cannot be encoded.
    @inline(never) @usableFromInline
    func answer(_ elements: [Element], _ reply: Reply) {
        guard let encode else { return }
        do throws(BackplaneError) {
            try encode(elements).withBytes { reply.end(Int32(BP_OK), $0) }
        } catch {
            let good = Array(elements.prefix { (try? encode([$0])) != nil })
            end(error, isOwn: true)
            if !good.isEmpty, let data = try? encode(good) {
                data.withBytes { reply.end(Int32(BP_OK), $0) }
            } else {
                reply.end(error)
            }
        }
    }

    private static func end(_ reply: Reply, _ ending: Ending) {
        switch ending {
        case .finished: reply.end(Int32(BP_END), .empty)
        case .failed(let error): reply.end(error)
        }
    }

    // MARK: Ending

    override func end(_ error: BackplaneError) { end(error, isOwn: false) }

    /// Ends the stream with an error, unless it has ended.
    ///
    /// - Parameter isOwn: Whether the error replaces an earlier end that the consumer has not seen.
    private func end(_ error: BackplaneError, isOwn: Bool) {
        let (reader, senders, task) = state.withLock { state -> (Reader?, [Sender], Task<Void, Never>?) in
            guard !state.isClosed else { return (nil, [], nil) }
            state.isClosed = true
            state.kept = []
            if state.ending == nil || isOwn { state.ending = .failed(error) }
            let senders = (state.sender.map { [$0] } ?? []) + state.senders
            (state.sender, state.senders) = (nil, [])
            return (state.reader.take(), senders, state.task)
        }
        release(reader)
        // First, so that a body whose element was refused finds its task cancelled.
        task?.cancel()
        for sender in senders { sender.continuation.resume(returning: false) }
    }

    /// Notifies a waiting consumer that there are no more elements.
    private func release(_ reader: Reader?) {
        switch reader {
        case .task(let continuation): continuation.resume(returning: nil)
        case .batch(_, let reply): Self.end(reply, state.withLock { $0.ending ?? .finished })
        case nil: break
        }
    }

    override func whenReturned(_ reply: Reply) {
        let hasReturned = state.withLock { state in
            if !state.hasReturned { state.watcher = reply }
            return state.hasReturned
        }
        if hasReturned { reply.end(Int32(BP_OK), .empty) }
    }

    // MARK: The body

    /// Runs the stream's body in a separate task, which begins on this thread.
    ///
    /// - Parameter returned: Called when the body has returned, before the consumer is notified.
    func begin(
        _ body: nonisolated(nonsending) @escaping @Sendable () async throws(BackplaneError) -> Void,
        returned: @escaping @Sendable () -> Void = {}
    ) {
        let task = NestedCalls.start { await self.run(body, returned) }
        let isClosed = state.withLock { state in
            if !state.hasReturned { state.task = task }
            return state.isClosed
        }
        if isClosed { task.cancel() }
    }

    private nonisolated(nonsending) func run(
        _ body: nonisolated(nonsending) @Sendable () async throws(BackplaneError) -> Void,
        _ returned: @Sendable () -> Void
    ) async {
        var ending = Ending.finished
        do throws(BackplaneError) { try await body() } catch { ending = .failed(error) }
        returned()
        let (reader, senders, watcher) = state.withLock { state -> (Reader?, [Sender], Reply?) in
            state.hasReturned = true
            state.task = nil
            if state.ending == nil { state.ending = ending }
            // A body may return while tasks that it has started still send.
            let senders = (state.sender.map { [$0] } ?? []) + state.senders
            (state.sender, state.senders) = (nil, [])
            return (state.reader.take(), senders, state.watcher.take())
        }
        release(reader)
        for sender in senders { sender.continuation.resume(returning: false) }
        watcher?.end(Int32(BP_OK), .empty)
    }
}

extension BackplaneError {
    @usableFromInline package static var streamReadTwiceAtOnce: BackplaneError {
        BackplaneError(
            .streamMisused, "`next` was called again before it had answered; a stream answers one `next` at a time")
    }
}
