package import Backplane
import CBackplane
import Synchronization

/// The answers that plugins still owe.
///
/// A plugin is handed a number, never a pointer: whoever answers twice, or too late, is looked up, not found, and does no
/// harm. `bp_done` and `bp_created` get back that number alone: nothing in it leads to a host, and a pointer to one would not
/// outlive it. So the table is one for the process, and its numbers are never used again.
package enum Callbacks {
    /// How something that a plugin was asked ended.
    package struct Ended: Sendable {
        package var answer: EncodedAnswer
        var instance: ForeignPointer
    }
    /// Told its number, and how it ended.
    package typealias Handler = @Sendable (UInt64, Ended) -> Void
    /// Told what the plugin answered at last, and whether the host had ended it before.
    package typealias Answered = @Sendable (_ ended: Ended, _ isLate: Bool) -> Void

    private struct Expected {
        let asker: Asker
        /// The host has ended it, and the plugin still owes its answer.
        var hasEnded = false
    }
    private enum Asker {
        case handler(Handler, Answered)
        case caller(any CallOwner, method: Int, Reply, hasDeadline: Bool)
    }
    private final class Shard: Sendable {
        let expected = Mutex<[UInt64: Expected]>([:])
    }
    private static let shards = (0..<16).map { _ in Shard() }
    private static let next = Atomic<UInt64>(1)

    private static func shard(_ id: UInt64) -> Shard { shards[Int(id % UInt64(shards.count))] }

    /// A number that nothing in the process had before.
    package static func newID() -> UInt64 { next.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Expects one more answer, and gives its number.
    ///
    /// - Parameter answered: until then the plugin may use what it was handed, however the host has ended it.
    static func expect(answered: @escaping Answered, _ handler: @escaping Handler) -> UInt64 {
        expect(.handler(handler, answered))
    }

    /// Expects the answer of a call, which goes to `reply` as it comes.
    package static func expectCall(by owner: any CallOwner, _ method: Int, _ reply: Reply, hasDeadline: Bool) -> UInt64 {
        expect(.caller(owner, method: method, reply, hasDeadline: hasDeadline))
    }

    private static func expect(_ asker: Asker) -> UInt64 {
        let id = newID()
        shard(id).expected.withLock { $0[id] = Expected(asker: asker) }
        return id
    }

    /// Ends what is expected under a number without waiting for the plugin; does nothing, and says so, when it has ended.
    @discardableResult
    package static func end(_ id: UInt64, _ answer: EncodedAnswer) -> Bool {
        let asker = shard(id).expected.withLock { expected -> Asker? in
            guard let found = expected[id], !found.hasEnded else { return nil }
            expected[id]?.hasEnded = true
            return found.asker
        }
        switch asker {
        case .handler(let handler, _): handler(id, Ended(answer: answer, instance: ForeignPointer(raw: nil)))
        case .caller(let owner, _, let reply, let hasDeadline):
            owner.callEnded(id, status: answer.status, hadDeadline: hasDeadline)
            reply.end(answer)
        case nil: return false
        }
        return true
    }

    /// The numbers of the methods that `owner` waits for the answers of. Looks at everything that any plugin owes: for messages.
    package static func methodsUnderWay(of owner: any CallOwner) -> [Int] {
        shards.flatMap { shard in
            shard.expected.withLock { expected in
                expected.values.compactMap { found in
                    if !found.hasEnded, case .caller(let other, let method, _, _) = found.asker, other === owner { method } else { nil }
                }
            }
        }
    }

    /// Does `owner` still wait for the answer of a call?
    package static func isWaiting(_ id: UInt64, _ owner: any CallOwner) -> Bool {
        shard(id).expected.withLock { expected in
            guard let found = expected[id], !found.hasEnded, case .caller(let other, _, _, _) = found.asker else { return false }
            return owner === other
        }
    }

    /// Has the host ended it, while the plugin still owes its answer?
    package static func isOwed(_ id: UInt64) -> Bool {
        shard(id).expected.withLock { $0[id]?.hasEnded ?? false }
    }

    /// What a plugin answers: the first time under a number; later ones are about nothing.
    private static func answer(_ id: UInt64, _ status: Int32, _ payload: bp_bytes, _ instance: ForeignPointer = ForeignPointer(raw: nil)) {
        guard let expected = shard(id).expected.withLock({ $0.removeValue(forKey: id) }) else { return }
        // That it has answered comes first, so that whoever waits finds that the plugin holds nothing any more.
        switch expected.asker {
        case .handler(let handler, let answered):
            let ended = Ended(answer: EncodedAnswer(status, payload), instance: instance)
            answered(ended, expected.hasEnded)
            if !expected.hasEnded { handler(id, ended) }
        case .caller(let owner, _, let reply, let hasDeadline):
            owner.pluginAnswered()
            guard !expected.hasEnded else { return }
            owner.callEnded(id, status: status, hadDeadline: hasDeadline)
            reply.end(status, payload)
        }
    }

    static func context(_ id: UInt64) -> UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(id))
    }

    /// What is done with the number of something just before it starts: a host sets it a time limit, by ending it then.
    package typealias Watch = (UInt64) -> Void

    /// Runs something on a thread that may be lost to it: a plugin's function that never returns.
    package typealias Launch = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Starts something on a thread of its own and waits for its answer, or for `end`.
    static func wait(
        _ watch: Watch, _ launch: Launch, answered: @escaping Answered, _ start: @escaping @Sendable (UnsafeMutableRawPointer?) -> Void
    ) async -> Ended {
        await withUnsafeContinuation { continuation in
            let id = expect(answered: answered) { _, ended in continuation.resume(returning: ended) }
            watch(id)
            launch { start(context(id)) }
        }
    }

    static let done: bp_done = { context, status, payload in
        answer(UInt64(UInt(bitPattern: context)), status, payload)
    }

    static let created: bp_created = { context, status, instance, payload in
        answer(UInt64(UInt(bitPattern: context)), status, payload, ForeignPointer(raw: instance))
    }
}

/// Who calls a plugin's methods: told of every call that it expects the answer of.
package protocol CallOwner: AnyObject, Sendable {
    /// The call has ended, by its answer or by ``Callbacks/end(_:_:)``: once.
    func callEnded(_ id: UInt64, status: Int32, hadDeadline: Bool)
    /// The plugin has answered, perhaps late, and no longer uses what it was handed: once.
    func pluginAnswered()
}
