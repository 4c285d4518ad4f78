import Backplane
import BackplaneHost
import Synchronization

/// Watches trees of files on a thread of its own, and tells which have changed once they have come to rest.
///
/// A file is told of when whoever wrote it has closed it, when it was moved or removed, or when it was given a name as a link. While
/// nothing happens the thread sleeps, with no limit. What another machine does in a file system that both share is not seen, nor what is
/// written through memory after a file was closed.
final class TreeWatch: Sendable {
    private let eyes: Eyes

    /// Watches from now on; what happens once this has returned is told.
    ///
    /// Costs about 25 µs for each folder with ten files in it: ten thousand files in a thousand folders take some 25 ms.
    ///
    /// - Parameters:
    ///   - quiet: how long nothing more must have happened before a change is told.
    ///   - patience: how long a change is held back at most.
    ///   - report: called on the watch's thread, which notices nothing while it runs; the kernel keeps what happens meanwhile, as far as it
    ///     can.
    /// - Throws: `watch.limit`, `watch.unusable`.
    init(
        _ trees: [WatchedTree], quiet: Duration, patience: Duration = .seconds(1), report: @escaping @Sendable (WatchedChanges) -> Void
    ) throws(BackplaneError) {
        let eyes = Eyes(try Inotify(), Settling(quiet: quiet, patience: patience))
        try eyes.replace(trees)
        guard HostThread.tryStart("bp-watch", { eyes.work(report) }) else {
            throw BackplaneError(.watchUnusable, "expected a thread to watch files with, found that the system gives none: end other programs, or raise the limit of threads")
        }
        self.eyes = eyes
    }

    deinit { close() }

    /// Watches `trees` and no others; those that are watched already go on without a gap.
    ///
    /// - Throws: `watch.limit`: what was watched before still is, and nothing else.
    func replace(_ trees: [WatchedTree]) throws(BackplaneError) {
        try eyes.replace(trees)
    }

    /// Ends the thread. What is being told may still be under way, and nothing is told after it.
    func close() {
        eyes.close()
    }
}

/// What the thread and those who direct it share.
private final class Eyes: Sendable {
    private struct State {
        var places: WatchedPlaces
        var settling: Settling
        var isClosed = false
    }
    private enum Turn {
        case tell(WatchedChanges?, nextBy: Deadline?), end
    }
    private let inotify: Inotify
    private let state: Mutex<State>

    init(_ inotify: Inotify, _ settling: Settling) {
        self.inotify = inotify
        state = Mutex(State(places: WatchedPlaces(inotify), settling: settling))
    }

    func replace(_ trees: [WatchedTree]) throws(BackplaneError) {
        try state.withLock { state throws(BackplaneError) in
            if !state.isClosed { try state.places.replace(trees) }
        }
        inotify.wake()
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            // Nobody reads what the kernel would go on noting.
            try? state.places.replace([])
        }
        inotify.wake()
    }

    func work(_ report: (WatchedChanges) -> Void) {
        while case .tell(let changes, let next) = turn() {
            if let changes { report(changes) } else { inotify.wait(until: next) }
        }
    }

    private func turn() -> Turn {
        state.withLock { state in
            if state.isClosed { return .end }
            state.places.look()
            state.places.lookAtUnfinishedFiles(at: .now)
            state.settling.add(state.places.takeNews(), at: .now)
            let changes = state.settling.take(at: .now)
            return .tell(changes, nextBy: [state.settling.due, state.places.unfinished.due].compactMap(\.self).min())
        }
    }
}
