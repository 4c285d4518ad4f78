import Glibc

/// The environment variables of this process.
package enum ProcessEnvironment {
    /// Returns the value of `name`; `nil` if it is not set or is empty, which has the same meaning.
    package static func value(_ name: String) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the unmodified value of `name`; `nil` only if it is not set.
    package static func text(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
