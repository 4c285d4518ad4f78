package import Backplane
import CBackplane
import Synchronization

/// The pending answers of plugins.
///
/// A plugin receives a number, never a pointer. A duplicate or late answer is not found in the table and is ignored.
package enum Callbacks {
    /// The result of an operation that was requested from a plugin.
    package struct Ended: Sendable {
        package var answer: EncodedAnswer
        var instance = ForeignPointer(raw: nil)
    }
    /// A handler that receives the result of an operation.
    package typealias Handler = @Sendable (Ended) -> Void
    /// A handler that receives the plugin's answer, and whether the host had already ended the operation.
    package typealias Answered = @Sendable (_ ended: Ended, _ isLate: Bool) -> Void

    private struct Expected {
        let asker: Asker
        /// Whether the host ended the operation before the plugin answered.
        var hasEnded = false
    }
    private enum Asker {
        case handler(Handler, Answered)
        case caller(any CallOwner, method: Int, Reply, hasDeadline: Bool, began: Deadline)
    }
    private static let expected = NumberTable<Expected>()
    private static let next = Atomic<UInt64>(1)
    private static let numbers = NumberSequence()

    /// Returns a number that has not been used in the process, from 1 to 2^52 - 1, which every reader of JSON
    /// represents exactly.
    ///
    /// A plugin cannot infer the numbers of other plugins from its own.
    package static func newID() -> UInt64 {
        var id: UInt64 = 0
        while id == 0 { id = numbers[next.wrappingAdd(1, ordering: .relaxed).oldValue] }
        return id
    }

    /// Returns whether ``newID()`` has returned a number.
    static func hasIssued(_ number: UInt64) -> Bool {
        0 < number && number < NumberSequence.end && numbers.place(of: number) < next.load(ordering: .relaxed)
    }

    /// Registers another expected answer, and returns its number.
    ///
    /// - Parameter answered: A function that receives the plugin's answer. Until then the plugin may use the arguments
    ///   of the operation, even if the host has ended the operation.
    static func expect(answered: @escaping Answered, _ handler: @escaping Handler) -> UInt64 {
        expected.add(Expected(asker: .handler(handler, answered)))
    }

    /// Registers the expected answer of a call, which is forwarded to `reply`.
    package static func expectCall(by owner: any CallOwner, _ method: Int, _ reply: Reply, hasDeadline: Bool) -> UInt64
    {
        expected.add(
            Expected(asker: .caller(owner, method: method, reply, hasDeadline: hasDeadline, began: .now)))
    }

    /// Ends an operation without waiting for the plugin.
    ///
    /// - Parameter first: A function that is called before the waiting caller is notified.
    /// - Returns: `false` if the operation has already ended.
    @discardableResult
    package static func end(_ id: UInt64, _ answer: EncodedAnswer, first: () -> Void = {}) -> Bool {
        let asker = expected.change(id) { expected -> Asker? in
            guard !expected.hasEnded else { return nil }
            expected.hasEnded = true
            return expected.asker
        }
        guard let asker else { return false }
        first()
        switch asker {
        case .handler(let handler, _): handler(Ended(answer: answer))
        case .caller(let owner, _, let reply, let hasDeadline, let began):
            owner.callEnded(id, status: answer.status, hadDeadline: hasDeadline, began: began) { answer }
            reply.end(answer)
        }
        return true
    }

    /// Ends an operation that the plugin will not be aware of, and therefore cannot answer.
    package static func refuseCall(_ id: UInt64, _ answer: EncodedAnswer) {
        answer.payload.withBytes { Self.answer(id, answer.status, $0) }
    }

    /// Returns the numbers of the calls whose answers `owner` awaits, with the numbers of their methods.
    ///
    /// The function searches the pending answers of all plugins, so it is only suitable for messages and for shutdown.
    package static func callsUnderWay(of owner: any CallOwner) -> [(id: UInt64, method: Int)] {
        expected.compactMap { id, found in
            if !found.hasEnded, case .caller(let other, let method, _, _, _) = found.asker, other === owner {
                (id, method)
            } else {
                nil
            }
        }
    }

    /// Returns the owner that still waits for the answer of a call.
    static func owner(of id: UInt64) -> (any CallOwner)? {
        guard let found = expected.find(id), !found.hasEnded, case .caller(let owner, _, _, _, _) = found.asker else {
            return nil
        }
        return owner
    }

    /// Returns whether `owner` still waits for the answer of a call.
    package static func isWaiting(_ id: UInt64, _ owner: any CallOwner) -> Bool { self.owner(of: id) === owner }

    /// Returns whether the host has ended an operation that the plugin has yet to answer.
    package static func isOwed(_ id: UInt64) -> Bool { expected.find(id)?.hasEnded ?? false }

    /// Receives a plugin's answer.
    ///
    /// Further answers under the same number are ignored.
    private static func answer(
        _ id: UInt64, _ status: Int32, _ payload: bp_bytes, _ instance: ForeignPointer = ForeignPointer(raw: nil)
    ) {
        guard let expected = expected.remove(id) else { return }
        // The owner is notified first, so that the plugin no longer holds anything when a waiting caller continues.
        switch expected.asker {
        case .handler(let handler, let answered):
            let ended = Ended(answer: EncodedAnswer(status, payload), instance: instance)
            answered(ended, expected.hasEnded)
            if !expected.hasEnded { handler(ended) }
        case .caller(let owner, _, let reply, let hasDeadline, let began):
            owner.pluginAnswered()
            guard !expected.hasEnded else { return }
            owner.callEnded(id, status: status, hadDeadline: hasDeadline, began: began) {
                EncodedAnswer(status, payload)
            }
            reply.end(status, payload)
        }
    }

    static func context(_ id: UInt64) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(id))
    }

    /// A function that receives an operation's number just before it starts.
    ///
    /// The host uses it to set a time limit.
    package typealias Watch = (UInt64) -> Void

    /// Starts an operation on a thread that the plugin's function may block forever, and waits for the answer or for
    /// `end`.
    static func wait(
        _ watch: Watch, answered: @escaping Answered,
        _ start: @escaping @Sendable (UnsafeMutableRawPointer?) -> Void
    ) async -> Ended {
        await withUnsafeContinuation { continuation in
            let id = expect(answered: answered) { ended in continuation.resume(returning: ended) }
            watch(id)
            if !HostThread.launch({ start(context(id)) }) { refuseCall(id, EncodedAnswer(BackplaneError.noThread)) }
        }
    }

    /// Calls a function that must answer before it returns, and returns its answer, or an error if it has not answered.
    static func immediateAnswer(
        or error: BackplaneError, _ function: (bp_done, UnsafeMutableRawPointer?) -> Void
    ) -> EncodedAnswer {
        let received = Received<EncodedAnswer>()
        let id = expect(answered: { _, _ in }) { ended in received.set(ended.answer) }
        function(done, context(id))
        end(id, EncodedAnswer(error))
        // If there is no value, the answer is arriving at this moment from another thread.
        return received.value ?? EncodedAnswer(error)
    }

    static let done: bp_done = { context, status, payload in
        answer(UInt64(UInt(bitPattern: context)), status, payload)
    }

    static let created: bp_created = { context, status, instance, payload in
        answer(UInt64(UInt(bitPattern: context)), status, payload, ForeignPointer(raw: instance))
    }
}

/// The caller of a plugin's methods, which is notified when each of its calls ends.
package protocol CallOwner: AnyObject, Sendable {
    /// Reports once that the call has ended, by its answer or by ``Callbacks/end(_:_:first:)``.
    ///
    /// - Parameters:
    ///   - began: The time at which the host started waiting for the answer.
    ///   - answer: A function that copies the answer.
    func callEnded(
        _ id: UInt64, status: Int32, hadDeadline: Bool, began: Deadline, _ answer: () -> EncodedAnswer)
    /// Reports once that the plugin has answered, possibly late, and no longer uses the arguments of the call.
    func pluginAnswered()
}

extension BackplaneError {
    /// The error for work for which the system cannot create a thread.
    package static let noThread = BackplaneError(
        .hostExhausted,
        "the system cannot create another thread for the host; raise the limits on processes and memory (`ulimit -u`, `ulimit -v`, the container's pids), or try again when the host is less busy"
    )
}
