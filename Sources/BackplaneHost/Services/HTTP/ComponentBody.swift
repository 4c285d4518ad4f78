import Backplane
import BackplaneNetwork
import CBackplane
import Synchronization

/// The body of a request that a component produces, pulled across the boundary while it is sent.
final class ComponentBody: Sendable {
    private struct State {
        /// The number of streams that were opened.
        var attempts = 0
        /// A Boolean value that indicates whether a stream is open and has not reached its end.
        var isStreaming = false
        /// A Boolean value that indicates whether no more streams are opened.
        var isFinal = false
        /// The number of the pull or rewind that has not been answered, and of the last one.
        var owed: Int?
        var last = 0
        /// The number of calls to the source's `cancel` in progress, which must not reach a later pull.
        var cancelling = 0
        /// The number of the source's functions in progress and of its pending answers.
        var uses = 0
        var isReleased = false
        /// The readers that wait for the answer to an earlier stream's pull.
        var waiting: [CheckedContinuation<Void, Never>] = []

        var isBusy: Bool { owed != nil || cancelling > 0 }

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            if isBusy { return [] }
            defer { waiting = [] }
            return waiting
        }
    }
    /// The maximum number of bytes that are requested at once.
    private static let chunkSize: UInt64 = 256 << 10
    private let source: ForeignTable<bp_source>
    private let state = Mutex(State())
    /// The function that is called with the number of bytes of each piece.
    private let taken: @Sendable (Int) -> Void
    /// The function that is called once the source has been released.
    private let released: @Sendable () -> Void

    init(
        _ functions: bp_source, taken: @escaping @Sendable (Int) -> Void, released: @escaping @Sendable () -> Void
    ) {
        (source, self.taken, self.released) = (ForeignTable(functions), taken, released)
    }

    /// A Boolean value that indicates whether an executor that cannot stream may collect the body, which is in memory
    /// or files.
    var mayBeCollected: Bool {
        source.table.length >= 0 && source.table.flags & UInt32(BP_SOURCE_REPLAYABLE) != 0
    }

    /// Returns the body for a request.
    ///
    /// - Throws: `network.body` for a source without the functions that it needs, or with an impossible length.
    func body() throws(BackplaneError) -> HTTPBody {
        let functions = source.table, isReplayable = functions.flags & UInt32(BP_SOURCE_REPLAYABLE) != 0
        guard functions.pull != nil else { throw BackplaneError(.networkBody, "the body's source has no `pull`") }
        guard !isReplayable || functions.rewind != nil else {
            throw BackplaneError(.networkBody, "the body's source is replayable, but has no `rewind` function")
        }
        guard functions.length >= -1 else {
            throw BackplaneError(
                .networkBody,
                "the body's source has the length \(functions.length); it must be at least -1, which means unknown")
        }
        return .produced(
            length: functions.length < 0 ? nil : functions.length, isReplayable: isReplayable,
            hasTrailers: functions.flags & UInt32(BP_SOURCE_TRAILERS) != 0
        ) { try self.open(isReplayable) }
    }

    private func open(_ isReplayable: Bool) throws(BackplaneError) -> HTTPBodyStream {
        let attempt = state.withLock { state -> Int? in
            guard !state.isFinal else { return nil }
            (state.attempts, state.isStreaming) = (state.attempts + 1, true)
            return state.attempts
        }
        guard let attempt else { throw BackplaneError(.networkBody, "the request's body is no longer needed") }
        guard attempt == 1 || isReplayable else {
            throw BackplaneError(.networkBody, "the request's body has already been sent, and can be read only once")
        }
        let rewound = Rewound(attempt == 1)
        return HTTPBodyStream(cancel: { self.streamEnded(attempt) }) {
            do {
                if rewound.isDue() {
                    _ = try await self.wait(attempt) { functions, context in
                        functions.rewind?(functions.context, OutstandingChunks.done, context)
                    }
                }
                let part = try await self.wait(attempt) { functions, context in
                    functions.pull?(functions.context, Self.chunkSize, OutstandingChunks.chunk, context)
                }
                switch part {
                case .bytes(let bytes) where bytes.count > Self.chunkSize:
                    throw BackplaneError(
                        .networkBody,
                        "the body's source returned \(bytes.count) bytes, but at most \(Self.chunkSize) were requested"
                    )
                case .bytes(let bytes): self.taken(bytes.count)
                case .end: self.streamEnded(attempt)
                }
                return part
            } catch {
                self.streamEnded(attempt)
                throw error
            }
        }
    }

    /// Reports that the exchange has its response, so that the body is not resent.
    func headArrived() { change { $0.isFinal = true } }

    /// Reports that the body is no longer needed.
    func exchangeEnded() {
        change { state in (state.isFinal, state.isStreaming) = (true, false) }
        // A pull that is owed keeps the source.
        if let owed = state.withLock({ $0.owed }) { cancelPull(owed) }
    }

    private func streamEnded(_ attempt: Int) {
        change { if $0.attempts == attempt { $0.isStreaming = false } }
    }

    // MARK: The component's functions

    /// Calls a function of the source and waits for its answer, or for the task's cancellation.
    private func wait(
        _ attempt: Int, _ call: @Sendable (bp_source, UnsafeMutableRawPointer?) -> Void
    ) async throws -> HTTPBodyPart {
        await untilNothingIsOwed()
        try Task.checkCancellation()
        let number = state.withLock { state -> Int? in
            guard state.isStreaming, state.attempts == attempt else { return nil }
            state.last += 1
            // Used until it has answered, and until the call has returned.
            (state.owed, state.uses) = (state.last, state.uses + 2)
            return state.last
        }
        guard let number else { throw BackplaneError(.networkBody, "the request's body is no longer needed") }
        let answer = PendingChunk()
        let context = OutstandingChunks.expect { result in
            self.answered()
            answer.end(result.mapError { $0 })
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                answer.begin(continuation)
                call(source.table, context)
                // It may have been abandoned before the source learned of it.
                let isWanted = state.withLock { $0.isStreaming && $0.attempts == attempt }
                if answer.isGivenUp || !isWanted { cancelPull(number) }
                change { $0.uses -= 1 }
            }
        } onCancel: {
            answer.end(.failure(CancellationError()))
            cancelPull(number)
        }
    }

    /// Notifies the source that its pending answer is not needed, unless it has answered.
    private func cancelPull(_ number: Int) {
        let isOwed = state.withLock { state in
            guard state.owed == number else { return false }
            (state.uses, state.cancelling) = (state.uses + 1, state.cancelling + 1)
            return true
        }
        guard isOwed else { return }
        source.table.cancel?(source.table.context)
        ended { $0.cancelling -= 1 }
    }

    private func answered() { ended { $0.owed = nil } }

    /// Records the end of a use, and resumes those who wait for it.
    private func ended(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            return state.takeWaiting()
        }
        self.change { $0.uses -= 1 }
        for waiter in waiting { waiter.resume() }
    }

    private func untilNothingIsOwed() async {
        await withCheckedContinuation { continuation in
            let isBusy = state.withLock { state in
                if state.isBusy { state.waiting.append(continuation) }
                return state.isBusy
            }
            if !isBusy { continuation.resume() }
        }
    }

    /// Changes the state, and releases the source once it is no longer used.
    private func change(_ change: (inout State) -> Void) {
        let isLast = state.withLock { state in
            change(&state)
            guard state.isFinal, !state.isStreaming, state.uses == 0, !state.isReleased else { return false }
            state.isReleased = true
            return true
        }
        guard isLast else { return }
        source.table.release?(source.table.context)
        released()
    }
}

/// The record of whether a stream has yet to rewind its source.
private final class Rewound: Sendable {
    private let isDone: Mutex<Bool>

    init(_ isDone: Bool) { self.isDone = Mutex(isDone) }

    func isDue() -> Bool {
        isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
    }
}

/// A pending piece, until it arrives or is abandoned.
private final class PendingChunk: Sendable {
    private struct State {
        var continuation: CheckedContinuation<HTTPBodyPart, any Error>?
        var result: Result<HTTPBodyPart, any Error>?
    }
    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<HTTPBodyPart, any Error>) {
        let result = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(with: result) }
    }

    /// A Boolean value that indicates whether it was abandoned instead of answered.
    var isGivenUp: Bool {
        state.withLock { state in
            if case .failure(let error)? = state.result { error is CancellationError } else { false }
        }
    }

    func end(_ result: Result<HTTPBodyPart, any Error>) {
        let continuation = state.withLock { state in
            if state.result == nil { state.result = result }
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }
}
