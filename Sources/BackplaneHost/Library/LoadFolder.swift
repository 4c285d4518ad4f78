package import Backplane
import CBackplaneHost
import Glibc
import Synchronization

/// A private folder for the copies of libraries that a host loads; it is removed with the host.
///
/// A library is never loaded from the path at which it was built. A copy does not change while its code runs. Loading a
/// path again returns the old code, regardless of the file's current contents, so each load needs a new path.
package final class LoadFolder: Sendable {
    package let path: String
    /// The lock that distinguishes the folder of a running host from one that was left behind.
    private let lock: FileLock
    private let copies = Atomic<Int>(0)

    /// Creates a folder for this host in `parent`, and removes folders left there by killed hosts.
    ///
    /// - Parameter parent: The folder that contains it; `nil` means `$XDG_CACHE_HOME/backplane`, or
    ///   `backplane-<user id>` in the temporary folder.
    package init(
        in parent: String? = nil, environment: (String) -> String? = ProcessEnvironment.value
    ) throws(BackplaneError) {
        let parent = FilePath.absolute(parent ?? RuntimeFolder.path(in: "XDG_CACHE_HOME", environment))
        let path = FilePath.join(parent, Self.newName())
        do throws(PrivateFolder.Defect) { try PrivateFolder.make(at: parent) } catch {
            throw Self.unusable(parent, error.text)
        }
        try Self.requireExecution(in: parent)
        do throws(SystemError) {
            // Only one host at a time sweeps and creates: a folder that is not locked yet looks abandoned.
            let gate = try FileLock(waitingFor: FilePath.join(parent, "lock"))
            Self.sweep(parent)
            guard mkdir(path, 0o700) == 0 else { throw .last }
            lock = try FileLock(waitingFor: FilePath.join(path, "lock"))
            gate.release()
        } catch {
            throw Self.unusable(parent, "cannot be used: \(error)")
        }
        self.path = path
    }

    /// Returns a path in the folder that has never been loaded, for a copy of the file called `fileName`.
    package func newCopyPath(for fileName: String) -> String {
        let number = copies.add(1, ordering: .relaxed).newValue
        return FilePath.join(path, "\(number)-\(Self.plain(fileName))")
    }

    /// Returns the path of a checked copy, whose file name shows plugin and generation in backtraces and debuggers.
    ///
    /// - Parameters:
    ///   - copy: A path from ``newCopyPath(for:)``.
    ///   - plugin: The id of the plugin; `nil` if it is unknown until the library's entry function runs.
    static func path(of copy: String, plugin: String?, generation: Int) -> String {
        let parts = FilePath.name(of: copy).split(separator: "-", maxSplits: 1),
            id = plugin.map { plain($0) + "-" } ?? ""
        return FilePath.join(FilePath.folder(of: copy), "\(parts[0])-\(id)\(BPH_GENERATION)\(generation)-\(parts[1])")
    }

    /// Returns a name with other bytes replaced by `_`, and short enough to be a part of a file name.
    private static func plain(_ name: String) -> String {
        String(
            decoding: name.utf8.suffix(80).map { Self.plainBytes.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }

    private static let plainBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+".utf8)

    /// Removes the folder with its contents; loaded libraries continue to work, because Linux retains mapped files.
    package func remove() {
        FileTree.remove(path)
    }

    /// Releases the storage of ranges of an inactive copy, such as its symbols; its code may still run.
    static func giveRoomBack(_ ranges: [Range<Int>], of copy: String) {
        guard let file = try? FileDescriptor(opening: copy, O_RDWR | O_NOFOLLOW) else { return }
        for range in ranges { file.punchHole(at: range) }
    }

    private static func requireExecution(in path: String) throws(BackplaneError) {
        do throws(SystemError) {
            if try !Mount(holding: path).isNoExec { return }
        } catch {
            throw unusable(path, "cannot be inspected: \(error)")
        }
        throw unusable(path, "is on a file system that is mounted noexec, from which nothing can be loaded")
    }

    private static func unusable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(
            .loadFolderUnusable,
            "the folder that libraries are loaded from \(reason); choose another with `HostOptions.loadFolder`",
            at: path)
    }

    /// Returns a name `host-<process>-<random>`, in which the process id aids readers and the random part ensures
    /// uniqueness.
    static func newName() -> String {
        let random = String(UInt64.random(in: .min ... .max), radix: 16)
        return "host-\(getpid())-" + String(repeating: "0", count: 16 - random.count) + random
    }

    /// Removes the folders of hosts that have ended from `parent`.
    ///
    /// Only folders that certainly belong to a host are touched, because users can choose a parent with other contents.
    static func sweep(_ parent: String) {
        for name in (try? FileTree.names(in: parent)) ?? [] where isHostFolder(name) {
            let path = FilePath.join(parent, name)
            guard let status = try? FileStatus(at: path), status.kind == .folder, status.owner == geteuid() else {
                continue
            }
            if !FileLock.isHeld(at: FilePath.join(path, "lock")) { FileTree.remove(path) }
        }
    }

    private static func isHostFolder(_ name: String) -> Bool {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "host", Int32(parts[1]) != nil else { return false }
        return parts[2].utf8.count == 16 && UInt64(parts[2], radix: 16) != nil
    }
}
