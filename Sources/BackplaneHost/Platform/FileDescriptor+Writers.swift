import Glibc

extension FileDescriptor {
    /// A Boolean value that indicates whether any process has this file open for writing; `nil` if unknown.
    ///
    /// For example, it is unknown for another user's file.
    ///
    /// The file must be open for reading. The check takes a lease, which the kernel grants only if there is no writer,
    /// and releases it; a process that opens the file for writing in between waits for the release.
    package var isOpenForWriting: Bool? {
        // The kernel reports the arrival of a writer with a signal: SIGIO by default, which ends the process; SIGURG is
        // ignored.
        guard fcntl(number, Self.setSignal, SIGURG) == 0 else { return nil }
        guard fcntl(number, Self.setLease, Int32(F_RDLCK)) == 0 else { return errno == EAGAIN ? true : nil }
        _ = fcntl(number, Self.setLease, Int32(F_UNLCK))
        return false
    }

    /// The constants `F_SETSIG` and `F_SETLEASE`, which the headers declare only with `_GNU_SOURCE`.
    private static let setSignal: Int32 = 10, setLease: Int32 = 1_024
}
