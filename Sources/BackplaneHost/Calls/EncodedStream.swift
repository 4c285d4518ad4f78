import Backplane
import CBackplane
import Synchronization

/// A stream that crosses as JSON, guarded against faults of its provider and of its consumer.
///
/// The provider's functions for one stream are called one after another, with `close` as the last one. Every request
/// for elements is answered exactly once: by the provider, or by the host when the stream is closed or interrupted. If
/// the host calls for the consumer, the consumer has the stream before it is open, while it waits for the provider.
final class EncodedStream: OpenStream, CallOwner {
    /// A request for elements.
    private enum Request {
        /// The request waits until a function of the provider has returned.
        case queued(Int, Reply)
        /// The provider is expected to answer under this number (``Callbacks``).
        case asked(UInt64)
    }
    private struct State {
        var provider: ComponentCalls?
        /// Whether the provider's `open` has yet to return.
        var isOpening = true
        /// Whether the stream is being opened, or one of the provider's functions is being called for it.
        var isInside = true
        var request: Request?
        /// The host's reason for ending the stream, until the consumer has been notified.
        var failure: BackplaneError?
        var isOver = false
        /// The reason why the provider must close the stream, or `nil` while it is open.
        var closing: BackplaneError?
        /// Whether the consumer has closed the stream.
        var isClosed = false
        /// Whether the provider's `close` has been called.
        var wasClosed = false
    }
    /// The number that identifies the stream and the deadline for opening it.
    let id = Callbacks.newID()
    private let state = Mutex(State())
    private let taken = Atomic(0)
    /// The gate at which the stream waits for the provider; `nil` if it does not wait.
    private let gate: Gate?
    /// The cancellation of the wait at the gate.
    let wait: Cancellation?

    /// The number of elements that the provider has sent.
    var elements: Int { taken.load(ordering: .relaxed) }

    /// Creates a stream that is about to be opened.
    init(waitingAt gate: Gate? = nil) {
        self.gate = gate
        wait = gate.map { gate in Cancellation { gate.cancel($0) } }
    }

    /// Creates a stream that is not opened.
    convenience init(failed error: BackplaneError) {
        self.init()
        end(error)
    }

    /// Fails the opening at a deadline; a stream that the provider opens later is closed immediately.
    func beOpen(by deadline: Deadline) {
        gate?.clock.schedule(id, at: deadline) { [weak self] in
            self?.endOpening(.deadlinePassed(before: "the stream was opened"))
        }
    }

    /// Notes the provider, before it opens the stream.
    func begin(at provider: ComponentCalls) { state.withLock { $0.provider = provider } }

    /// Continues after the provider has opened the stream.
    func opened() {
        state.withLock { $0.isOpening = false }
        gate?.clock.cancel(id)
        leave()
    }

    /// Answers with at most `count` elements, or with the end of the stream.
    func next(_ count: Int, _ reply: Reply) {
        enum Step {
            case refuse(BackplaneError)
            case over, queued
            case begin
        }
        let step = state.withLock { state -> Step in
            if state.isClosed { return .refuse(.streamClosed) }
            guard state.request == nil else { return .refuse(.streamReadTwiceAtOnce) }
            if let failure = state.failure.take() {
                state.isOver = true
                return .refuse(failure)
            }
            if state.isOver { return .over }
            if state.closing != nil { return .refuse(.streamClosed) }
            state.request = .queued(max(count, 1), reply)
            if state.isInside { return .queued }
            state.isInside = true
            return .begin
        }
        switch step {
        case .refuse(let error): reply.end(error)
        case .over: reply.end(Int32(BP_END), .empty)
        case .queued: break
        case .begin: leave()
        }
    }

    /// Performs the actions that became due while a function of the provider was being called.
    ///
    /// A provider that answers immediately receives its next request here, so that the stack does not grow.
    private func leave() {
        enum Step {
            case ask(Int, UInt64)
            case close(owed: UInt64?, BackplaneError)
            case done
        }
        guard let provider = state.withLock(\.provider) else { return }
        while true {
            let step = state.withLock { state -> Step in
                if let error = state.closing {
                    guard !state.wasClosed else { return .done }
                    state.wasClosed = true
                    return if case .asked(let answer)? = state.request {
                        .close(owed: answer, error)
                    } else {
                        .close(owed: nil, error)
                    }
                }
                guard case .queued(let count, let reply)? = state.request else {
                    state.isInside = false
                    return .done
                }
                provider.instance.claim()
                let counted = Reply { [self] status, payload in
                    note(status, payload, of: provider)
                    reply.end(status, payload)
                }
                let answer = Callbacks.expectCall(by: self, 0, counted, hasDeadline: false)
                state.request = .asked(answer)
                return .ask(count, answer)
            }
            switch step {
            case .ask(let count, let answer): provider.instance.next(id, count, answer: answer)
            case .close(let owed, let error):
                // First, because a provider that closes answers pending requests with a reason of its own.
                if let owed { Callbacks.end(owed, EncodedAnswer(error)) }
                return provider.instance.close(id) { [self] in provider.ended(id) }
            case .done: return
            }
        }
    }

    func callEnded(_ id: UInt64, status: Int32, hadDeadline: Bool, began: Deadline, _: () -> EncodedAnswer) {
        state.withLock { state in
            state.request = nil
            if status != BP_OK { (state.isOver, state.failure) = (true, nil) }
        }
    }

    /// Counts the elements of an answer, or a failure of the provider; an interruption is not a failure.
    private func note(_ status: Int32, _ payload: bp_bytes, of provider: ComponentCalls) {
        if status == BP_OK {
            taken.add(JSONArrayLength.of(payload), ordering: .relaxed)
            return
        }
        guard status != BP_END, status != BP_CANCELLED, state.withLock({ $0.closing == nil }),
            EncodedAnswer(status, payload).error.code != .streamInterrupted
        else { return }
        provider.noteFailure(EncodedAnswer(status, payload))
    }

    func pluginAnswered() { state.withLock(\.provider)?.instance.release() }

    /// Ends the stream for its consumer.
    func close() { end(.streamClosed, isConsumers: true) }

    /// Ends the stream with an error of the host, which is reported to the consumer.
    func end(_ error: BackplaneError) { end(error, isConsumers: false) }

    /// Ends the stream with an error of the host, unless it is open; an open stream is ended at its provider.
    func endOpening(_ error: BackplaneError) { end(error, isConsumers: false, onlyWhileOpening: true) }

    private func end(_ error: BackplaneError, isConsumers: Bool, onlyWhileOpening: Bool = false) {
        let (request, wasOpening, closes) = state.withLock { state -> (Request?, Bool, Bool) in
            if isConsumers { state.isClosed = true }
            guard state.closing == nil, state.isOpening || !onlyWhileOpening else { return (nil, false, false) }
            state.closing = error
            let request = state.request
            switch request {
            case .queued: (state.request, state.isOver) = (nil, true)
            // If the provider answers in the meantime, the next request receives the reason.
            case .asked, nil: if !state.isOver, !isConsumers { state.failure = error }
            }
            guard !state.isInside else { return (request, state.isOpening, false) }
            state.isInside = true
            return (request, false, true)
        }
        if wasOpening {
            gate?.clock.cancel(id)
            wait?.cancel()
        }
        switch request {
        case .queued(_, let reply): reply.end(error)
        case .asked(let answer): Callbacks.end(answer, EncodedAnswer(error))
        case nil: break
        }
        if closes { leave() }
    }
}

extension BackplaneError {
    static var streamClosed: BackplaneError {
        BackplaneError(.callCancelled, "the stream was closed by its consumer")
    }
}

/// The number of elements of a JSON array, counted without decoding them.
///
/// The count is used only for statistics and computed for each batch of a stream; `JSONReader` would copy each string.
enum JSONArrayLength {
    /// Counts the commas between the elements; the result is only meaningful for a JSON array.
    static func of(_ array: bp_bytes) -> Int {
        var depth = 0, commas = 0, isText = false, isEscaped = false, hasContent = false
        for byte in array.lent {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (isText, hasContent) = (true, true)
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if depth > 0 { hasContent = true }
                depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ","): if depth == 1 { commas += 1 }
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
            default: hasContent = true
            }
        }
        return hasContent ? commas + 1 : 0
    }
}
