import Glibc

/// A failed system call: its error number and the system's description of it.
///
/// It does not state what was attempted; callers convert it into a `BackplaneError` that does.
package struct SystemError: Error, Sendable, Hashable {
    /// The number as in `errno`.
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The error in `errno` after the last failed call of this thread.
    package static var last: SystemError { SystemError(errno) }
}

extension SystemError: CustomStringConvertible {
    package var description: String { String(cString: strerror(number)) }
}
