package import Backplane
import Glibc

extension Inotify {
    /// The kinds of events to watch for in a folder.
    package struct Kinds: OptionSet, Sendable, Hashable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        private init(_ value: Int) { rawValue = UInt32(truncatingIfNeeded: value) }

        package static let created = Kinds(Int(IN_CREATE)), deleted = Kinds(Int(IN_DELETE)),
            written = Kinds(Int(IN_CLOSE_WRITE))
        package static let movedHere = Kinds(Int(IN_MOVED_TO)), movedAway = Kinds(Int(IN_MOVED_FROM))
        /// The deletion of the watched folder itself.
        package static let selfDeleted = Kinds(Int(IN_DELETE_SELF))
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
        package let name: RawPath?

        package init(watch: Int32, kinds: Kinds, name: RawPath?) {
            (self.watch, self.kinds, self.name) = (watch, kinds, name)
        }
    }

    /// Returns queued events, as many as one read returns; empty if there are none.
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
                    name: name.isEmpty ? nil : RawPath(bytes: [UInt8](name))))
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
