import Backplane
import BackplaneHost

/// New files, which may not be finished.
extension WatchedPlaces {
    /// Tells of a file that was found, or else of one that is open once it is closed.
    mutating func consider(_ file: RawPath, told path: String) {
        if file.isFinishedFile {
            tell(file, path)
        } else if file.kind == .file {
            unfinished.add(file, told: path, at: .now)
        }
    }

    mutating func tell(_ file: RawPath, _ path: String) {
        unfinished.remove(file)
        news.paths.insert(path)
    }

    /// Looks again at those that were not, as far as it is time for it.
    mutating func lookAtUnfinishedFiles(at now: Deadline) {
        for (file, path) in unfinished.take(at: now) where file.isFinishedFile { tell(file, path) }
    }

    /// What an event says of a file: one that is new is as it is to be only as a link, and else when it is closed.
    mutating func take(_ event: Inotify.Event, ofFile file: RawPath, told path: String) {
        if event.kinds.contains(.ofFolder) { return }
        if event.kinds.contains(.created) {
            consider(file, told: path)
        } else if !event.kinds.isDisjoint(with: [.written, .movedHere, .movedAway, .deleted]) {
            tell(file, path)
        }
    }
}
