import BackplaneNetwork
import Synchronization

/// The files that downloads of a killed host have left unfinished in a component's folder.
final class AbandonedDownloads: Sendable {
    private let folder: String
    private let areRemoved = Atomic(false)

    init(in folder: String) { self.folder = folder }

    /// Removes the files before the first download of an instance; later calls do nothing.
    func remove() {
        guard !folder.isEmpty, !areRemoved.exchange(true, ordering: .relaxed) else { return }
        IncomingFile.removeAbandoned(in: folder)
    }
}
