import Glibc

/// An open file, closed when its owner lets go of it.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Opens `path` with the `O_…` flags given; `mode` counts only where `O_CREAT` makes the file.
    ///
    /// A child process never inherits it: a lock that a child keeps would look like a living host.
    package init(opening path: String, _ flags: Int32, mode: UInt32 = 0) throws(SystemError) {
        // A path with a zero in it would be cut short there and name another file.
        guard !path.utf8.contains(0) else { throw SystemError(EINVAL) }
        number = try retryingInterrupted { open(path, flags | O_CLOEXEC, mode) }
    }

    /// Opens what `folder` holds under `name`.
    init(openingIn folder: borrowing FileDescriptor, _ name: String, _ flags: Int32) throws(SystemError) {
        let parent = folder.number
        number = try retryingInterrupted { openat(parent, name, flags | O_CLOEXEC) }
    }

    /// Takes over a file that is open already, such as a socket.
    init(adopting number: Int32) { self.number = number }

    deinit {
        _ = close(number)
    }
}

/// Repeats a system call that a signal interrupted; one that fails otherwise throws.
@discardableResult
func retryingInterrupted<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw .last }
    }
}
