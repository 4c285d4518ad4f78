import Backplane
import BackplaneHost
import Synchronization

/// A watch of files on a thread of its own, which looks at all of them again once what happens there has come to rest.
///
/// While nothing happens the thread sleeps, with no limit. What another machine does in a file system that both share is not seen, nor what is
/// written through memory after a file was closed.
final class FileWatch: Sendable {
    private struct State {
        var files: WatchedFiles
        var news = WatchedChanges()
        /// When the first and the last event since the last look came.
        var first, last: Deadline?
        var isClosed = false
    }
    private enum Turn {
        case tell(WatchedChanges), sleep(until: Deadline?), end
    }
    private let inotify: Inotify
    private let state: Mutex<State>
    private let quiet: Duration
    /// How long a change is held back at most.
    private static let patience = Duration.seconds(1)

    /// - Parameters:
    ///   - quiet: how long nothing more must have happened before files are looked at.
    ///   - limit: the most bytes of a file that are compared; a larger one has changed when it was written.
    ///   - report: called on the watch's thread.
    /// - Throws: `watch.unusable`.
    init(quiet: Duration, comparing limit: Int, report: @escaping @Sendable (WatchedChanges) -> Void) throws(BackplaneError) {
        (self.quiet, inotify) = (quiet, try Inotify())
        state = Mutex(State(files: WatchedFiles(inotify, comparing: limit)))
        guard HostThread.tryStart("bp-watch", { self.work(report) }) else {
            throw BackplaneError(.watchUnusable, "expected a thread to watch files with, found that the system gives none: end other programs, or raise the limit of threads")
        }
    }

    /// Watches `trees` and no others; what happens in them once this has returned is told.
    func watch(_ trees: Set<WatchedTree>) {
        state.withLock { $0.news.add($0.files.replace(trees)) }
        inotify.wake()
    }

    /// Ends the thread. What is being told may still be under way, and nothing is told after it.
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
        if hasEvents(for: state.files) { (state.first, state.last) = (state.first ?? .now, .now) }
        var due: Deadline?
        if let first = state.first, let last = state.last { due = min(last + quiet, first + Self.patience) }
        if let now = due, now <= .now {
            (state.first, state.last, due) = (nil, nil, nil)
            state.news.add(state.files.look())
        }
        defer { state.news = WatchedChanges() }
        return state.news.isEmpty ? .sleep(until: due) : .tell(state.news)
    }

    /// Reads what the kernel has noted; not for ever, however fast more comes.
    private func hasEvents(for files: WatchedFiles) -> Bool {
        var isConcerned = false
        for _ in 0..<64 {
            guard let events = try? inotify.events(), !events.isEmpty else { break }
            isConcerned = isConcerned || events.contains(where: files.concerns)
        }
        return isConcerned
    }
}
