import Glibc

/// The environment variables of this process.
package enum ProcessEnvironment {
    /// The value of `name`; `nil` where it is not set, or empty, which users mean to be the same.
    package static func value(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
