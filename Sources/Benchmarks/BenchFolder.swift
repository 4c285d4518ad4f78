import BackplaneHost
import BackplaneTools
import Foundation
import Glibc

/// The folder for the files of a run, removed at its end.
struct BenchFolder {
    /// The path of the folder; its subfolder `memory` is on a file system in memory if there is enough space.
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

    func removeInUse() {
        for folder in folders { folder.removeInUse() }
    }

    /// The first of the usual in-memory folders from which libraries can be loaded and that has 2 GiB free.
    private static var memory: String? {
        [ProcessEnvironment.value("XDG_RUNTIME_DIR"), "/dev/shm"].compactMap(\.self).first { place in
            var system = statvfs()
            guard access(place, W_OK | X_OK) == 0, statvfs(place, &system) == 0, let mount = try? Mount(holding: place)
            else { return false }
            return !mount.isNoExec && system.f_bavail * system.f_bsize > 1 << 31
        }
    }
}
