import Synchronization

/// What a synchronous call was answered with, on whatever thread.
final class Received: Sendable {
    private let answer = Mutex<EncodedAnswer?>(nil)
    var value: EncodedAnswer? { answer.withLock { $0 } }
    func set(_ new: EncodedAnswer) { answer.withLock { $0 = new } }
}
