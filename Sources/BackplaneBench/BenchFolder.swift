import BackplaneHost
import BackplaneProcesses
import Foundation
import Glibc

/// Where a run keeps its files, all of them gone afterwards.
struct BenchFolder {
    /// In it `memory` is a folder whose files lie in memory, where the system has room for that.
    let path: String
    private let folders: [TemporaryFolder]

    init() throws {
        let folder = try TemporaryFolder(for: "bench"), memory = folder.path + "/memory"
        path = folder.path
        if let parent = Self.memory, let other = try? TemporaryFolder(for: "bench", in: parent) {
            folders = [folder, other]
            try FileManager.default.createSymbolicLink(atPath: memory, withDestinationPath: other.path)
        } else {
            folders = [folder]
            try FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: false)
        }
    }

    func remove() {
        for folder in folders { folder.remove() }
    }

    /// The first of the usual places in memory that libraries may be loaded from and that has two gigabytes left.
    private static var memory: String? {
        [ProcessEnvironment.value("XDG_RUNTIME_DIR"), "/dev/shm"].compactMap(\.self).first { place in
            var system = statvfs()
            guard access(place, W_OK | X_OK) == 0, statvfs(place, &system) == 0, let mount = try? Mount(holding: place) else { return false }
            return !mount.isNoExec && system.f_bavail * system.f_bsize > 1 << 31
        }
    }
}
