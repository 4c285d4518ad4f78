import Backplane
import Synchronization

/// The single use of a body that cannot be resent.
final class Once: Sendable {
    private let isTaken = Atomic(false)

    func take() throws(BackplaneError) {
        guard !isTaken.exchange(true, ordering: .relaxed) else {
            throw BackplaneError(
                .networkBody,
                "the request's body has already been sent, and comes from a stream that can be read only once; use `.replayable`"
            )
        }
    }
}
