import BackplaneNetwork
import Synchronization

/// The unfinished files that downloads of a killed process have left in the folders of components.
final class AbandonedDownloads: Sendable {
    private final class Folder: Sendable {
        let isClean = Mutex(false)
    }
    private let folders = Mutex<[String: Folder]>([:])

    /// Removes the files of a folder before the first download into it; later calls do nothing.
    ///
    /// A file that a plugin is still examining looks like an abandoned one, so the folder is not searched again.
    func remove(from path: String) {
        guard !path.isEmpty else { return }
        let folder = folders.withLock { folders in
            let folder = folders[path] ?? Folder()
            folders[path] = folder
            return folder
        }
        folder.isClean.withLock { isClean in
            if !isClean { IncomingFile.removeAbandoned(in: path) }
            isClean = true
        }
    }
}
