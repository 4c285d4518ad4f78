import Backplane
import CBackplane
import Foundation

/// A request to a component, and all answers to it.
///
/// The context that a plugin receives is a request that is never freed, so that late or repeated answers do no harm.
final class Question: @unchecked Sendable {  // every access holds the lock
    struct Answer: Sendable {
        var status: Int32
        var payload: [UInt8]
        /// The instance, in the answer to a creation.
        var instance: UInt

        var isOK: Bool { status == Int32(BP_OK) }
        /// The message of an error answer.
        var reason: String {
            let text = EncodedAnswer(status: status, payload: payload)
            do { _ = try text.get() } catch { return error.message }
            return "no reason"
        }
    }
    /// The meaning of the payload of a successful answer.
    enum Kind: Sendable { case call, step, state, elements }
    let kind: Kind
    /// The description of the request in findings, such as "`Clock.now` was called with `{`".
    let what: String
    private let lock = NSCondition()
    private var answers: [Answer] = []

    init(_ kind: Kind, _ what: String) { (self.kind, self.what) = (kind, what) }

    var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static let done: bp_done = { context, status, payload in take(context, status, payload, nil) }
    static let created: bp_created = { context, status, instance, payload in take(context, status, payload, instance) }

    private static func take(
        _ context: UnsafeMutableRawPointer?, _ status: Int32, _ payload: bp_bytes, _ instance: UnsafeMutableRawPointer?
    ) {
        guard let context else { return }
        let question = Unmanaged<Question>.fromOpaque(context).takeUnretainedValue()
        let answer = Answer(status: status, payload: payload.array, instance: UInt(bitPattern: instance))
        question.lock.withLock {
            question.answers.append(answer)
            question.lock.broadcast()
        }
    }

    /// Waits for the first answer without a timeout, because the parent process enforces one.
    func wait() -> Answer {
        lock.withLock {
            while answers.isEmpty { lock.wait() }
            return answers[0]
        }
    }

    /// Waits for the first answer until a deadline.
    func wait(until deadline: Deadline) -> Answer? {
        lock.withLock {
            while answers.isEmpty {
                let left = deadline - .now
                guard left > .zero, lock.wait(until: Date(timeIntervalSinceNow: left / .seconds(1))) || deadline > .now
                else { break }
            }
            return answers.first
        }
    }

    var all: [Answer] { lock.withLock { answers } }
}
