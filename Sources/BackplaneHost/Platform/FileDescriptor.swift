import Glibc

/// An open file, which is closed when the value is destroyed.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Creates a descriptor by opening `path` with `O_…` flags; `mode` matters only if `O_CREAT` creates the file.
    ///
    /// Child processes do not inherit it, because a lock held by a child would look like a running host.
    package init(opening path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) {
        // The system would take a path that contains a zero for a shorter one, and open another file.
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        number = try retryingInterrupted { open(path, flags | O_CLOEXEC, mode) }
    }

    /// Creates a descriptor by opening the file `name` in `folder`.
    init(openingIn folder: borrowing FileDescriptor, _ name: String, _ flags: Int32) throws(SystemError) {
        let parent = folder.number
        number = try retryingInterrupted { openat(parent, name, flags | O_CLOEXEC) }
    }

    /// Creates a descriptor that takes ownership of an open descriptor number, such as that of a socket.
    init(adopting number: Int32) { self.number = number }

    deinit {
        _ = close(number)
    }
}

/// Repeats a system call as long as signals interrupt it; throws an error for any other failure.
@discardableResult
func retryingInterrupted<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw .last }
    }
}
