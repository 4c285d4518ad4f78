package import Backplane
package import BackplaneHost
import Glibc

/// The kernel's notifications about changes in folders, for one thread that reads and waits for them.
package final class Inotify: Sendable {
    let descriptor: FileDescriptor
    let wakeSignal: WakeSignal

    /// Creates an instance without watches.
    ///
    /// - Throws: `watch.unusable` if the user has too many instances, or the process too many open files.
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
    package func add(_ path: String, _ kinds: Kinds) throws(SystemError) -> Int32 {
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        return try retryingInterrupted {
            inotify_add_watch(descriptor.number, path, kinds.rawValue | UInt32(IN_ONLYDIR))
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

extension Inotify {
    /// The kinds of events to watch for in a folder.
    package struct Kinds: OptionSet, Sendable, Hashable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        private init(_ value: Int) { rawValue = UInt32(truncatingIfNeeded: value) }

        package static let created = Kinds(Int(IN_CREATE)), deleted = Kinds(Int(IN_DELETE)),
            written = Kinds(Int(IN_CLOSE_WRITE))
        package static let movedHere = Kinds(Int(IN_MOVED_TO)), movedAway = Kinds(Int(IN_MOVED_FROM))
        /// The end of the watch, because the folder was deleted or the watch was removed.
        package static let ignored = Kinds(Int(IN_IGNORED))
        /// An overflow of the kernel's queue, which discarded later events.
        package static let overflow = Kinds(Int(IN_Q_OVERFLOW))
    }

    package struct Event: Sendable, Hashable {
        /// The number of the watch; -1 for an overflow.
        package let watch: Int32
        package let kinds: Kinds
        /// The name of the affected file in the folder; `nil` for the folder itself.
        package let name: String?

        package init(watch: Int32, kinds: Kinds, name: String?) {
            (self.watch, self.kinds, self.name) = (watch, kinds, name)
        }
    }

    /// Returns the queued events that fit into one read; empty if there are none.
    package func events() throws(SystemError) -> [Event] {
        let number = descriptor.number
        var buffer = [UInt8](repeating: 0, count: 1 << 16), filled = 0
        do throws(SystemError) {
            filled = try retryingInterrupted { read(number, &buffer, buffer.count) }
        } catch {
            if error.number == EAGAIN { return [] }
            throw error
        }
        return buffer.withUnsafeBytes { Self.events(UnsafeRawBufferPointer(rebasing: $0[..<filled])) }
    }

    private static func events(_ bytes: UnsafeRawBufferPointer) -> [Event] {
        var events: [Event] = [], rest = bytes[...]
        let size = MemoryLayout<inotify_event>.size
        while rest.count >= size {
            let raw = bytes.loadUnaligned(fromByteOffset: rest.startIndex, as: inotify_event.self)
            let name = rest.dropFirst(size).prefix(Int(raw.len)).prefix { $0 != 0 }
            events.append(
                Event(
                    watch: raw.wd, kinds: Kinds(rawValue: raw.mask),
                    name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(size + Int(raw.len))
        }
        return events
    }

    /// Waits for events, for ``wake()``, or until the deadline; without a deadline, indefinitely.
    package func wait(until deadline: Deadline?) {
        wakeSignal.wait(until: deadline, or: descriptor.number, events: POLLIN)
    }

    /// Ends the current wait, or the next one if there is none.
    package func wake() { wakeSignal.raise() }
}
