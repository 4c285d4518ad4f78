package import Backplane
import CBackplane
import Synchronization

/// The pending answers of plugins.
///
/// A plugin receives a number, never a pointer. A duplicate or late answer is not found in the table and is ignored.
/// `bp_done` and `bp_created` pass back only that number, which does not identify a host, and a pointer to a host would
/// not outlive it. The table is therefore shared by the whole process, and its numbers are never reused.
package enum Callbacks {
    /// The result of an operation that was requested from a plugin.
    package struct Ended: Sendable {
        package var answer: EncodedAnswer
        var instance: ForeignPointer
    }
    /// A handler that receives the number and the result of an operation.
    package typealias Handler = @Sendable (UInt64, Ended) -> Void
    /// A handler that receives the plugin's answer, and whether the host had already ended the operation.
    package typealias Answered = @Sendable (_ ended: Ended, _ isLate: Bool) -> Void

    private struct Expected {
        let asker: Asker
        /// A Boolean value that indicates whether the host ended the operation before the plugin answered.
        var hasEnded = false
    }
    private enum Asker {
        case handler(Handler, Answered)
        case caller(any CallOwner, method: Int, Reply, hasDeadline: Bool, began: Deadline)
    }
    private final class Shard: Sendable {
        let expected = Mutex<[UInt64: Expected]>([:])
    }
    private static let shards = (0..<16).map { _ in Shard() }
    private static let next = Atomic<UInt64>(1)
    private static let numbers = NumberSequence()

    private static func shard(_ id: UInt64) -> Shard { shards[Int(id % UInt64(shards.count))] }

    /// Returns a number that has not been used in the process, neither 0 nor the greatest one.
    ///
    /// A plugin cannot tell from its own numbers which ones others have.
    package static func newID() -> UInt64 {
        var id: UInt64 = 0
        while id == 0 || id == .max { id = numbers[next.wrappingAdd(1, ordering: .relaxed).oldValue] }
        return id
    }

    /// Registers another expected answer, and returns its number.
    ///
    /// - Parameter answered: A function that receives the plugin's answer. Until then the plugin may use the arguments
    ///   of the operation, even if the host has ended the operation.
    static func expect(answered: @escaping Answered, _ handler: @escaping Handler) -> UInt64 {
        expect(.handler(handler, answered))
    }

    /// Registers the expected answer of a call, which is forwarded to `reply`.
    package static func expectCall(by owner: any CallOwner, _ method: Int, _ reply: Reply, hasDeadline: Bool) -> UInt64
    {
        expect(.caller(owner, method: method, reply, hasDeadline: hasDeadline, began: .now))
    }

    private static func expect(_ asker: Asker) -> UInt64 {
        let id = newID()
        shard(id).expected.withLock { $0[id] = Expected(asker: asker) }
        return id
    }

    /// Ends an operation without waiting for the plugin.
    ///
    /// - Parameter first: A function that is called before whoever awaits the operation is told.
    /// - Returns: `false` if the operation has already ended.
    @discardableResult
    package static func end(_ id: UInt64, _ answer: EncodedAnswer, first: () -> Void = {}) -> Bool {
        let asker = shard(id).expected.withLock { expected -> Asker? in
            guard let found = expected[id], !found.hasEnded else { return nil }
            expected[id]?.hasEnded = true
            return found.asker
        }
        if asker != nil { first() }
        switch asker {
        case .handler(let handler, _): handler(id, Ended(answer: answer, instance: ForeignPointer(raw: nil)))
        case .caller(let owner, _, let reply, let hasDeadline, let began):
            owner.callEnded(id, status: answer.status, hadDeadline: hasDeadline, began: began) { answer }
            reply.end(answer)
        case nil: return false
        }
        return true
    }

    /// Ends a call that the plugin will not be aware of, and therefore cannot answer.
    package static func refuseCall(_ id: UInt64, _ answer: EncodedAnswer) {
        end(id, answer)
        Self.answer(id, Int32(BP_CANCELLED), .empty)
    }

    /// Returns the numbers of the calls whose answers `owner` awaits, with the numbers of their methods.
    ///
    /// The function searches the pending answers of all plugins, so it is only suitable for messages and for shutdown.
    package static func callsUnderWay(of owner: any CallOwner) -> [(id: UInt64, method: Int)] {
        shards.flatMap { shard in
            shard.expected.withLock { expected in
                expected.compactMap { id, found in
                    if !found.hasEnded, case .caller(let other, let method, _, _, _) = found.asker, other === owner {
                        (id, method)
                    } else {
                        nil
                    }
                }
            }
        }
    }

    /// Returns whether `owner` still waits for the answer of a call.
    package static func isWaiting(_ id: UInt64, _ owner: any CallOwner) -> Bool {
        shard(id).expected.withLock { expected in
            guard let found = expected[id], !found.hasEnded, case .caller(let other, _, _, _, _) = found.asker else {
                return false
            }
            return owner === other
        }
    }

    /// Returns whether the host has ended an operation that the plugin has yet to answer.
    package static func isOwed(_ id: UInt64) -> Bool {
        shard(id).expected.withLock { $0[id]?.hasEnded ?? false }
    }

    /// Receives a plugin's answer.
    ///
    /// Further answers under the same number are ignored.
    private static func answer(
        _ id: UInt64, _ status: Int32, _ payload: bp_bytes, _ instance: ForeignPointer = ForeignPointer(raw: nil)
    ) {
        guard let expected = shard(id).expected.withLock({ $0.removeValue(forKey: id) }) else { return }
        // The owner is told first, so that a waiting caller finds that the plugin no longer holds anything.
        switch expected.asker {
        case .handler(let handler, let answered):
            let ended = Ended(answer: EncodedAnswer(status, payload), instance: instance)
            answered(ended, expected.hasEnded)
            if !expected.hasEnded { handler(id, ended) }
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

    /// A function that runs a closure on a thread that a plugin's function may block forever.
    ///
    /// It returns `false`, and does not run the closure, if no thread can be created.
    package typealias Launch = @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// Starts an operation on a separate thread, and waits for its answer or for `end`.
    static func wait(
        _ watch: Watch, _ launch: Launch, answered: @escaping Answered,
        _ start: @escaping @Sendable (UnsafeMutableRawPointer?) -> Void
    ) async -> Ended {
        await withUnsafeContinuation { continuation in
            let id = expect(answered: answered) { _, ended in continuation.resume(returning: ended) }
            watch(id)
            if !launch({ start(context(id)) }) { refuse(id) }
        }
    }

    /// Ends an operation for which no thread could be created, before the plugin is aware of it.
    private static func refuse(_ id: UInt64) {
        guard let expected = shard(id).expected.withLock({ $0.removeValue(forKey: id) }),
            case .handler(let handler, let answered) = expected.asker
        else { return }
        let ended = Ended(answer: EncodedAnswer(BackplaneError.noThread), instance: ForeignPointer(raw: nil))
        answered(ended, expected.hasEnded)
        if !expected.hasEnded { handler(id, ended) }
    }

    static let done: bp_done = { context, status, payload in
        answer(UInt64(UInt(bitPattern: context)), status, payload)
    }

    static let created: bp_created = { context, status, instance, payload in
        answer(UInt64(UInt(bitPattern: context)), status, payload, ForeignPointer(raw: instance))
    }
}

/// A permutation of all numbers that differs in every process: a Feistel network of four rounds with random keys.
struct NumberSequence: Sendable {
    private let keys: (UInt64, UInt64, UInt64, UInt64)

    init() {
        func key() -> UInt64 { .random(in: .min ... .max) }
        keys = (key(), key(), key(), key())
    }

    subscript(place: UInt64) -> UInt64 { Self.permuted(place, keys) }

    /// Returns the place at which a number is in the sequence.
    func place(of number: UInt64) -> UInt64 {
        // Backwards, the rounds are the same with their halves exchanged.
        Self.permuted(number.halvesExchanged, (keys.3, keys.2, keys.1, keys.0)).halvesExchanged
    }

    private static func permuted(_ number: UInt64, _ keys: (UInt64, UInt64, UInt64, UInt64)) -> UInt64 {
        var left = UInt32(truncatingIfNeeded: number >> 32), right = UInt32(truncatingIfNeeded: number)
        func mix(_ key: UInt64) {
            // The finalizer of SplitMix64, half of it.
            var value = UInt64(right) &+ key
            value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
            (left, right) = (right, left ^ UInt32(truncatingIfNeeded: value >> 32))
        }
        mix(keys.0)
        mix(keys.1)
        mix(keys.2)
        mix(keys.3)
        return UInt64(left) << 32 | UInt64(right)
    }
}

extension UInt64 {
    fileprivate var halvesExchanged: UInt64 { self << 32 | self >> 32 }
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
