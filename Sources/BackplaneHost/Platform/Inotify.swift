package import Backplane
import Glibc

/// The kernel's notifications about changes in folders, for one thread that reads and waits for them.
package final class Inotify: Sendable {
    let descriptor: FileDescriptor
    let wakeSignal: WakeSignal

    /// Creates an instance without watches.
    ///
    /// - Throws: `watch.unusable` if this user has reached the limit of instances, or the process that of open files.
    package init() throws(BackplaneError) {
        do throws(SystemError) {
            descriptor = FileDescriptor(
                adopting: try retryingInterrupted { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) })
            wakeSignal = try WakeSignal()
        } catch {
            throw BackplaneError(
                .watchUnusable,
                error.number == EMFILE
                    ? "files cannot be watched, because the system's limit is reached: end other programs that watch files, raise `fs.inotify.max_user_instances`, or raise the limit on open files"
                    : "files cannot be watched: \(error)")
        }
    }

    /// Watches the folder at `path`, and returns the number of the watch.
    ///
    /// The number is the same for the same folder, regardless of its path.
    ///
    /// - Throws: `ENOENT` or `ENOTDIR` if there is no folder; `EACCES` if this user may not read it; `ENOSPC` if this
    ///   user has reached the limit of watches.
    package func add(_ path: RawPath, _ kinds: Kinds) throws(SystemError) -> Int32 {
        guard !path.bytes.contains(0) else { throw SystemError(EINVAL) }
        return try retryingInterrupted {
            path.withCString { inotify_add_watch(descriptor.number, $0, kinds.rawValue | UInt32(IN_ONLYDIR)) }
        }
    }

    /// Removes a watch; events already queued are still delivered, the last one being ``Kinds/ignored``.
    package func remove(_ watch: Int32) {
        inotify_rm_watch(descriptor.number, watch)
    }

    /// Returns the error for a folder that cannot be watched, with advice on what to do.
    package static func problem(_ error: SystemError, watching path: String) -> BackplaneError {
        switch error.number {
        case ENOSPC, ENOMEM:
            BackplaneError(
                .watchLimit,
                "this folder cannot be watched, because the user's limit of watched folders is reached: raise `fs.inotify.max_user_watches` with `sysctl`, or watch fewer folders",
                at: path)
        case EACCES, EPERM:
            BackplaneError(
                .watchUnreadable,
                "this user may not read the folder: change its permissions or its owner",
                at: path)
        default:
            BackplaneError(
                .watchUnreadable, "this folder cannot be watched: \(error)", at: path)
        }
    }
}

/// The error codes for watching files.
extension BackplaneError.Code {
    /// The code of the error when the system provides no further means of watching files.
    package static let watchUnusable = Self(rawValue: "watch.unusable")
    /// The code of the error when too many folders are watched.
    package static let watchLimit = Self(rawValue: "watch.limit")
    package static let watchUnreadable = Self(rawValue: "watch.unreadable")
}
