import Backplane
import BackplaneExchange
import Synchronization

/// A task that flushes a part's bytes to the disk in the background, to bound the number of bytes lost in a power
/// failure.
///
/// The receiving task owns it, and waits for it only if the disk falls too far behind.
final class DiskFollower: Sendable {
    private struct State {
        /// The bytes that have been flushed, and the time of the last flush.
        var sent: Int64
        var time: Duration
        var work: Task<Void, Never>?
        var isWorking = false
        var failure: BackplaneError?
    }
    /// The number of bytes after which a flush starts.
    private static let interval: Int64 = 16 << 20
    /// The time after which a flush starts even for fewer bytes.
    private static let pause: Duration = .seconds(5)
    private let part: PartFile
    private let means: TransferMeans
    private let report: @Sendable (TransferNews) -> Void
    private let state: Mutex<State>

    init(_ part: PartFile, _ means: TransferMeans, _ report: @escaping @Sendable (TransferNews) -> Void) {
        (self.part, self.means, self.report) = (part, means, report)
        state = Mutex(State(sent: part.count, time: means.retries.elapsed))
    }

    /// Flushes appended bytes, if a flush is due.
    ///
    /// - Throws: `network.file` if the previous flush failed.
    func follow() async throws(BackplaneError) {
        let now = means.retries.elapsed, count = part.count
        let (failure, late, isDue) = state.withLock { state -> (BackplaneError?, Task<Void, Never>?, Bool) in
            let ahead = count - state.sent
            if state.isWorking { return (state.failure, ahead > Self.interval ? state.work : nil, false) }
            // A clock that goes backwards makes this due later, by bytes.
            let isDue = ahead >= Self.interval || ahead > 0 && now - state.time >= Self.pause
            if isDue { (state.sent, state.time, state.isWorking) = (count, now, true) }
            return (state.failure, nil, isDue)
        }
        if let failure { throw failure }
        await late?.value
        guard isDue else { return }
        try part.mark()
        let work = Task { [part, means, report, self] in
            do throws(BackplaneError) {
                try await means.onDisk { () throws(BackplaneError) in try part.sync() }
                report(.synced(count))
                state.withLock { $0.isWorking = false }
            } catch {
                state.withLock { ($0.isWorking, $0.failure) = (false, error) }
            }
        }
        state.withLock { $0.work = work }
    }

    /// Waits until the current flush has ended; returns the reason for which one has failed.
    @discardableResult
    func settle() async -> BackplaneError? {
        await state.withLock { $0.work }?.value
        return state.withLock { $0.failure }
    }
}
