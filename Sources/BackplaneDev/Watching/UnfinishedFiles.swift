import Backplane
import BackplaneHost

/// New files that somebody had open for writing when they were looked at.
///
/// Who made a file closes it under its name, which is told. But a file may have been given its name while it was open under another one,
/// or under none, and then nothing more is told of it. So it is looked at again some times, about a second and a half long, ever more
/// rarely, and then no more.
struct UnfinishedFiles {
    private struct Look {
        /// The path that is told.
        let path: String
        var next: Deadline
        var interval: Duration
    }
    private var looks: [RawPath: Look] = [:]
    private static let first = Duration.milliseconds(6), last = Duration.milliseconds(800)

    /// When the next one is to be looked at; `nil`: there is none.
    var due: Deadline? { looks.values.map(\.next).min() }

    mutating func add(_ file: RawPath, told path: String, at now: Deadline) {
        looks[file] = Look(path: path, next: now + Self.first, interval: Self.first)
    }

    mutating func remove(_ file: RawPath) {
        if !looks.isEmpty { looks[file] = nil }
    }

    /// Those that are to be looked at by now, with the paths that are told. Each that is still open is in here already for its next time.
    mutating func take(at now: Deadline) -> [RawPath: String] {
        let due = looks.filter { $0.value.next <= now }
        for (file, look) in due {
            let interval = look.interval * 2
            looks[file] = interval > Self.last ? nil : Look(path: look.path, next: now + interval, interval: interval)
        }
        return due.mapValues(\.path)
    }
}
