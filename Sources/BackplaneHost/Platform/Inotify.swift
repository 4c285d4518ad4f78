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
                    ? "expected to be told of changed files, found none left of those that the system allows: end other programs that watch files, raise `fs.inotify.max_user_instances`, or raise the limit of open files"
                    : "expected to be told of changed files, found that the system does not: \(error)")
        }
    }

    /// Watches the folder at `path`, and returns the number of the watch.
    ///
    /// The number is the same for the same folder, whatever its path.
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
                "expected to be told of changes in this folder, found that this user watches as many folders as the system allows: raise `fs.inotify.max_user_watches` with `sysctl`, or watch less",
                at: path)
        case EACCES, EPERM:
            BackplaneError(
                .watchUnreadable,
                "expected a folder that can be read, found one that this user may not: change its permissions or its owner",
                at: path)
        default:
            BackplaneError(
                .watchUnreadable, "expected a folder that can be watched, found that it cannot: \(error)", at: path)
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
