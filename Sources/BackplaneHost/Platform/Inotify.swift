package import Backplane
import Glibc

/// The kernel's account of what happens in folders, for one thread that reads it and waits for it.
package final class Inotify: Sendable {
    let descriptor: FileDescriptor
    let wakeSignal: WakeSignal

    /// - Throws: `watch.unusable`: this user has as many of these as the system allows, or the process too many files.
    package init() throws(BackplaneError) {
        do throws(SystemError) {
            descriptor = FileDescriptor(adopting: try retryingInterrupted { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) })
            wakeSignal = try WakeSignal()
        } catch {
            throw BackplaneError(
                .watchUnusable,
                error.number == EMFILE
                    ? "expected to be told of changed files, found none left of those that the system allows: end other programs that watch files, raise `fs.inotify.max_user_instances`, or raise the limit of open files"
                    : "expected to be told of changed files, found that the system does not: \(error)")
        }
    }

    /// Tells from now on of what happens in the folder at `path`, and returns the number that stands for it: the same for the same folder,
    /// whatever its path.
    ///
    /// - Throws: `ENOENT` and `ENOTDIR`: no folder is there. `EACCES`: this user may not read it. `ENOSPC`: this user watches as many as the
    ///   system allows.
    package func add(_ path: RawPath, _ kinds: Kinds) throws(SystemError) -> Int32 {
        guard !path.bytes.contains(0) else { throw SystemError(EINVAL) }
        return try retryingInterrupted { path.withCString { inotify_add_watch(descriptor.number, $0, kinds.rawValue | UInt32(IN_ONLYDIR)) } }
    }

    /// Tells no more of it, but for what it has noted already; the last it tells is ``Kinds/ignored``.
    package func remove(_ watch: Int32) {
        inotify_rm_watch(descriptor.number, watch)
    }

    /// What it means that a folder cannot be watched, and what to do.
    package static func problem(_ error: SystemError, watching path: String) -> BackplaneError {
        switch error.number {
        case ENOSPC, ENOMEM:
            BackplaneError(
                .watchLimit,
                "expected to be told of changes in this folder, found that this user watches as many folders as the system allows: raise `fs.inotify.max_user_watches` with `sysctl`, or watch less", at: path)
        case EACCES, EPERM:
            BackplaneError(.watchUnreadable, "expected a folder that can be read, found one that this user may not: change its permissions or its owner", at: path)
        default: BackplaneError(.watchUnreadable, "expected a folder that can be watched, found that it cannot: \(error)", at: path)
        }
    }
}

/// Watching files.
extension BackplaneError.Code {
    /// The system gives no more means of watching, or none.
    package static let watchUnusable = Self(rawValue: "watch.unusable")
    /// Too many folders are watched.
    package static let watchLimit = Self(rawValue: "watch.limit")
    package static let watchUnreadable = Self(rawValue: "watch.unreadable")
}
