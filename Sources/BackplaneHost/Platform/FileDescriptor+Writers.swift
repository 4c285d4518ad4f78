import Glibc

extension FileDescriptor {
    /// Whether any process has this file open for writing; `nil`: the system does not say, as of another user's file.
    ///
    /// The file must be open for reading. A lease is asked for, which the system grants only while nobody writes, and given back: whoever
    /// opens the file for writing in between waits for that.
    package var isOpenForWriting: Bool? {
        // How a writer's coming is told: by default with a signal that ends the process, here with one that is ignored.
        guard fcntl(number, Self.setSignal, SIGURG) == 0 else { return nil }
        guard fcntl(number, Self.setLease, Int32(F_RDLCK)) == 0 else { return errno == EAGAIN ? true : nil }
        _ = fcntl(number, Self.setLease, Int32(F_UNLCK))
        return false
    }

    /// `F_SETSIG` and `F_SETLEASE`, which are Linux's own: the headers show them only to those who ask for GNU's extensions.
    private static let setSignal: Int32 = 10, setLease: Int32 = 1_024
}
