package import Backplane
import CBackplaneHost
import Glibc
import Synchronization

/// The host's own folder for the copies that it loads: private, and gone when the host is.
///
/// A library is never loaded from where it was built. A copy cannot change under the code that runs from it, and only a path
/// that was never loaded before gives new code: one that was gives the old code again, whatever lies there now.
package final class LoadFolder: Sendable {
    /// Absolute.
    package let path: String
    /// Held while this host lives, so that others can tell its folder from one that was left behind.
    private let lock: FileLock
    private let copies = Atomic<Int>(0)

    /// Makes a folder for this host in `parent`, and removes those that killed hosts have left there.
    ///
    /// - Parameter parent: `nil` for `$XDG_CACHE_HOME/backplane`, or else `backplane-<user id>` in the temporary folder.
    package init(
        in parent: String? = nil, environment: (String) -> String? = ProcessEnvironment.value
    ) throws(BackplaneError) {
        let parent = FilePath.absolute(parent ?? Self.defaultParent(environment))
        let path = FilePath.join(parent, Self.newName())
        try Self.makeParent(parent)
        try Self.requireExecution(in: parent)
        do throws(SystemError) {
            // One host at a time sweeps and makes: a folder whose lock is not held yet looks like one that was left behind.
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

    /// A path in the folder that no load has used, for a copy of the file called `fileName`.
    package func newCopyPath(for fileName: String) -> String {
        let number = copies.add(1, ordering: .relaxed).newValue
        return FilePath.join(path, "\(number)-\(Self.plain(fileName))")
    }

    /// The path of a copy once it is known what it is: whoever sees the file's name, in a backtrace or in a debugger, sees plugin and generation.
    ///
    /// - Parameters:
    ///   - copy: a path of ``newCopyPath(for:)``.
    ///   - plugin: its id; `nil`: only the library's entry will tell.
    static func path(of copy: String, plugin: String?, generation: Int) -> String {
        let parts = FilePath.name(of: copy).split(separator: "-", maxSplits: 1), id = plugin.map { plain($0) + "-" } ?? ""
        return FilePath.join(FilePath.folder(of: copy), "\(parts[0])-\(id)\(BPH_GENERATION)\(generation)-\(parts[1])")
    }

    /// Letters and digits as they are, for people and for lines of text; never more than a file name can bear, of which this is a part.
    private static func plain(_ name: String) -> String {
        String(decoding: name.utf8.suffix(80).map { Self.plainBytes.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
    }

    private static let plainBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+".utf8)

    /// Removes the folder with everything in it. What was loaded from it goes on working: Linux keeps mapped files.
    package func remove() {
        FileTree.remove(path)
    }

    /// Gives back the room that some pages of a copy take: its symbols and its debug information, say, when it is no longer in force. Its code may still run.
    static func giveRoomBack(_ ranges: [Range<Int>], of copy: String) {
        guard let file = try? FileDescriptor(opening: copy, O_RDWR | O_NOFOLLOW) else { return }
        for range in ranges { file.punchHole(at: range) }
    }
}
