import Glibc

/// The environment variables of this process.
package enum ProcessEnvironment {
    /// The value of `name`; `nil` where it is not set, or empty, which users mean to be the same.
    package static func value(_ name: String) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of `name` as it is; `nil` only where it is not set.
    package static func text(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
