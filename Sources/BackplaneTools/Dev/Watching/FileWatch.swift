import Backplane
import BackplaneHost
import Synchronization

/// A watch of files, on a separate thread, that compares them once they no longer change.
///
/// While there are no events, the thread sleeps without a timeout. It detects neither changes that another machine
/// makes in a shared file system nor writes through a memory mapping after the file was closed.
final class FileWatch: Sendable {
    private struct State {
        var files: WatchedFiles
        var news = WatchedChanges()
        /// The times of the first and the last event since the last comparison.
        var first, last: Deadline?
        /// The time of the next comparison if the last one found a changed file open for writing.
        var again: Deadline?
        /// The time between the last two comparisons for that reason.
        var pause = Duration.zero
        var isClosed = false

        /// Schedules another comparison if a changed file was found open for writing.
        mutating func lookAgain() {
            guard files.foundOpenFile, pause < FileWatch.longestPause else { return }
            pause = max(pause * 2, .milliseconds(10))
            again = .now + pause
        }
    }
    private enum Turn {
        case tell(WatchedChanges), sleep(until: Deadline?), end
    }
    private let inotify: Inotify
    private let state: Mutex<State>
    private let quiet: Duration
    /// The maximum delay of a change report.
    private static let patience = Duration.seconds(1)
    /// The time after which a file that is open for writing is no longer looked at until its next event.
    private static let longestPause = Duration.seconds(5)

    /// Creates a watch without any paths, and starts its thread.
    ///
    /// - Parameters:
    ///   - quiet: The time without events after which files are compared.
    ///   - limit: The maximum size of a file whose contents are compared, in bytes; a larger file counts as changed
    ///     when it is written.
    ///   - report: A function that receives the changes, on the watch's thread.
    /// - Throws: `watch.unusable`.
    init(quiet: Duration, comparing limit: Int, report: @escaping @Sendable (WatchedChanges) -> Void)
        throws(BackplaneError)
    {
        (self.quiet, inotify) = (quiet, try Inotify())
        state = Mutex(State(files: WatchedFiles(inotify, comparing: limit)))
        guard HostThread.tryStart("bp-watch", { self.work(report) }) else {
            throw BackplaneError(
                .watchUnusable,
                "no thread could be created to watch files: end other programs, or raise the limit on threads"
            )
        }
    }

    /// Replaces the watched trees; changes after the return are reported.
    func watch(_ trees: Set<WatchedTree>) {
        state.withLock { state in
            state.news.add(state.files.replace(trees))
            state.pause = .zero
            state.lookAgain()
        }
        inotify.wake()
    }

    /// Ends the thread; a report in progress may still finish, but none follows it.
    func close() {
        state.withLock { $0.isClosed = true }
        inotify.wake()
    }

    private func work(_ report: (WatchedChanges) -> Void) {
        while true {
            switch state.withLock({ turn(&$0) }) {
            case .tell(let changes): report(changes)
            case .sleep(let deadline): inotify.wait(until: deadline)
            case .end: return
            }
        }
    }

    private func turn(_ state: inout State) -> Turn {
        if state.isClosed { return .end }
        if hasEvents(for: state.files) { (state.first, state.last, state.pause) = (state.first ?? .now, .now, .zero) }
        var due = state.again
        if let first = state.first, let last = state.last { due = min(last + quiet, first + Self.patience) }
        if let now = due, now <= .now {
            (state.first, state.last, state.again) = (nil, nil, nil)
            state.news.add(state.files.look())
            state.lookAgain()
            due = state.again
        }
        defer { state.news = WatchedChanges() }
        return state.news.isEmpty ? .sleep(until: due) : .tell(state.news)
    }

    /// Reads up to 64 batches of the kernel's events, so that a fast writer cannot keep the thread busy.
    private func hasEvents(for files: WatchedFiles) -> Bool {
        var isConcerned = false
        for _ in 0..<64 {
            guard let events = try? inotify.events(), !events.isEmpty else { break }
            isConcerned = isConcerned || events.contains(where: files.concerns)
        }
        return isConcerned
    }
}
