import BackplaneNetwork
import Synchronization

/// The folders from which a program's pipeline has removed files left by downloads of killed processes.
///
/// A host does that for the folders of its components.
final class SweptFolders: Sendable {
    /// The number of folders beyond which all are forgotten and searched again.
    private static let limit = 1_000
    private let folders = Mutex<Set<Substring>>([])

    /// Removes such files from the folder of a file, before the first download to it.
    func sweep(beside path: String) {
        let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        let isNew = folders.withLock { folders in
            if folders.count >= Self.limit { folders = [] }
            return folders.insert(folder).inserted
        }
        if isNew { IncomingFile.removeAbandoned(beside: path) }
    }
}
