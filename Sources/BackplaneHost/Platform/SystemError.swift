import Glibc

/// A failed system call: its number, and what the system says of it.
///
/// Does not know what was attempted or why; whoever does turns it into a `BackplaneError`.
package struct SystemError: Error, Sendable, Hashable {
    /// As in `errno`.
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// What the last failed call of this thread left in `errno`.
    package static var last: SystemError { SystemError(errno) }
}

extension SystemError: CustomStringConvertible {
    package var description: String { String(cString: strerror(number)) }
}
