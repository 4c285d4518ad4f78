package import CBackplane
import FoundationEssentials
import Synchronization

/// The destination of an encoded call's answer: a callback and its context, called exactly once.
@usableFromInline
package struct Reply: Sendable {
    private let done: bp_done
    /// The caller's own context, which is passed back unchanged.
    private let context: ForeignPointer

    package init(_ done: @escaping bp_done, _ context: UnsafeMutableRawPointer?) {
        (self.done, self.context) = (done, ForeignPointer(raw: context))
    }

    /// Creates a reply that calls a closure, which borrows the payload.
    package init(_ body: @escaping @Sendable (Int32, bp_bytes) -> Void) {
        self.init(
            { context, status, payload in
                Box<@Sendable (Int32, bp_bytes) -> Void>.take(context)(status, payload)
            }, Box(body).toContext())
    }

    /// Ends the call with a borrowed payload.
    package func end(_ status: Int32, _ payload: bp_bytes) {
        done(context.raw, status, payload)
    }

    package func end(_ answer: EncodedAnswer) {
        answer.payload.withBytes { done(context.raw, answer.status, $0) }
    }

    package func end(_ error: BackplaneError) {
        end(EncodedAnswer(error))
    }
}

/// The result of an encoded call: a copy of the status code and payload of `bp_done`.
@usableFromInline
package struct EncodedAnswer: Sendable {
    package var status: Int32
    package var payload: [UInt8]

    package init(status: Int32, payload: [UInt8]) {
        (self.status, self.payload) = (status, payload)
    }

    package init(_ result: [UInt8]) {
        self.init(status: Int32(BP_OK), payload: result)
    }

    package init(_ error: BackplaneError) {
        // An error that its status expresses completely is sent as plain text, for readers without JSON.
        if let status = Self.status(saying: error) {
            self.init(status: status, payload: Array(error.message.utf8))
            return
        }
        // An error consists of nested texts. It can be encoded unless its causes are nested deeper than JSON allows.
        let payload =
            (try? JSON.encode(error, failing: .callInvalidOutput))
            ?? (try? JSON.encode(error.keepingCauses(100), failing: .callInvalidOutput))
        self.init(status: Int32(BP_ERROR), payload: payload ?? [])
    }

    package init(_ status: Int32, _ payload: bp_bytes) {
        self.init(status: status, payload: payload.array)
    }

    package func get() throws(BackplaneError) -> [UInt8] {
        guard status != Int32(BP_OK) else { return payload }
        throw error
    }

    package var error: BackplaneError {
        if status == Int32(BP_ERROR),
            let error = try? JSON.decode(BackplaneError.self, payload, failing: .callInvalidOutput)
        {
            return error
        }
        let text = Self.readable(payload)
        let (code, fallback) = Self.meaning(of: status)
        return BackplaneError(code, text.isEmpty ? fallback : text)
    }

    /// Returns a plugin's error message as text, cut off after `textLimit` bytes.
    private static func readable(_ payload: [UInt8]) -> String {
        guard payload.count > textLimit else { return String(decoding: payload, as: UTF8.self) }
        return String(decoding: payload.prefix(textLimit), as: UTF8.self)
            + "… (the first \(textLimit) of \(payload.count) bytes)"
    }

    private static var textLimit: Int { 65_536 }

    /// Returns the status code that represents this error exactly; `nil` if the error carries more than a code.
    ///
    /// A cancelled call is always recognised by its status, because it is not a failure; its calls are omitted.
    private static func status(saying error: BackplaneError) -> Int32? {
        guard error.location == nil, error.failure == nil, error.causes.isEmpty, !error.message.isEmpty,
            error.calls.isEmpty || error.code == .callCancelled
        else {
            return nil
        }
        let statuses = [
            BP_FAILED, BP_INVALID_INPUT, BP_UNIMPLEMENTED, BP_CANCELLED, BP_DEADLINE, BP_FORBIDDEN, BP_RETIRED,
        ]
        return statuses.map { Int32($0) }.first { meaning(of: $0).0 == error.code }
    }

    private static func meaning(of status: Int32) -> (BackplaneError.Code, String) {
        switch Int(status) {
        case Int(BP_INVALID_INPUT): (.callInvalidInput, "the input does not have the type that the method expects")
        case Int(BP_UNIMPLEMENTED): (.callUnimplemented, "there is no such method")
        case Int(BP_CANCELLED): (.callCancelled, "the call was cancelled")
        case Int(BP_DEADLINE): (.callDeadline, "the call's deadline passed")
        case Int(BP_FORBIDDEN): (.roleForbidden, "the component's role may not do this")
        case Int(BP_RETIRED): (.callRetired, "the component has stopped")
        case Int(BP_FAILED): (.componentFailed, "the component failed without a reason")
        default: (.componentFailed, "the component answered with status \(status) and no reason")
        }
    }
}

extension BackplaneError {
    /// Returns the same error without causes nested more than `levels` levels deep.
    fileprivate func keepingCauses(_ levels: Int) -> BackplaneError {
        var copy = self
        copy.causes = levels == 0 ? [] : causes.map { $0.keepingCauses(levels - 1) }
        return copy
    }
}

/// The completion of an encoded call by a component, exactly once.
@usableFromInline
struct CallEnding: Sendable {
    let instance: Instance
    let id: UInt64
    let reply: Reply

    func end(_ output: Data) {
        instance.ended(id)
        output.withBytes { reply.end(Int32(BP_OK), $0) }
    }

    func end(_ output: [UInt8]) {
        instance.ended(id)
        output.withBytes { reply.end(Int32(BP_OK), $0) }
    }

    func end(_ error: BackplaneError) {
        instance.ended(id)
        reply.end(error)
    }
}

/// The receiver of an encoded call's answer, which may arrive before or after it is awaited.
///
/// Most calls are answered before the function that starts them returns. In that case nothing waits and nothing can be
/// cancelled.
package final class PendingAnswer: Sendable {
    private enum State {
        case nothing
        case waiting(UnsafeContinuation<EncodedAnswer, Never>)
        case answered(EncodedAnswer)
    }
    private let state = Mutex(State.nothing)

    package init() {}

    /// The reply that delivers the answer.
    ///
    /// It must be used exactly once.
    package var reply: Reply { Reply(Self.done, toContext()) }

    /// Returns the context to pass with ``done``, which takes it back.
    package func toContext() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// Releases the context of an answer that will not arrive.
    package static func forget(_ context: UnsafeMutableRawPointer) {
        Unmanaged<PendingAnswer>.fromOpaque(context).release()
    }

    package static let done: bp_done = { context, status, payload in
        guard let context else { return }
        Unmanaged<PendingAnswer>.fromOpaque(context).takeRetainedValue().receive(EncodedAnswer(status, payload))
    }

    private func receive(_ answer: EncodedAnswer) {
        let continuation = state.withLock { state -> UnsafeContinuation<EncodedAnswer, Never>? in
            if case .waiting(let continuation) = state {
                state = .nothing
                return continuation
            }
            state = .answered(answer)
            return nil
        }
        continuation?.resume(returning: answer)
    }

    /// The answer, if it has arrived.
    package var now: EncodedAnswer? {
        state.withLock { state in
            if case .answered(let answer) = state { answer } else { nil }
        }
    }

    /// Returns the answer, waiting for it if necessary.
    ///
    /// It must be called exactly once.
    ///
    /// If the waiting task is cancelled, it still waits for the answer, which `cancel` should cause.
    package nonisolated(nonsending) func wait(onCancel cancel: @Sendable () -> Void) async -> EncodedAnswer {
        if let now { return now }
        return await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            cancel()
        }
    }

    private nonisolated(nonsending) func wait() async -> EncodedAnswer {
        await withUnsafeContinuation { continuation in
            let answer = state.withLock { state -> EncodedAnswer? in
                if case .answered(let answer) = state { return answer }
                state = .waiting(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}

/// A value that another function sets, on any thread, before it returns.
package final class Received<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    package init() {}

    package var value: Value? { stored.withLock { $0 } }
    package func set(_ new: Value) { stored.withLock { $0 = new } }
}
