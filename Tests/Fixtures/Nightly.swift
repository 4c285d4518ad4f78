import Foundation
package import Testing

/// The nightly run of the suite.
package enum Nightly {
    package static let isRunning = ProcessInfo.processInfo.environment["BACKPLANE_NIGHTLY"] == "1"

    /// Returns how often a test repeats its steps: one number by day, another at night.
    package static func count(_ day: Int, night: Int) -> Int { isRunning ? night : day }
}

extension Trait where Self == ConditionTrait {
    /// The condition of tests that take long, compile packages, use random inputs, kill hosts or need other programs.
    ///
    /// They run only with `BACKPLANE_NIGHTLY=1`, which `make test-nightly` sets.
    package static var nightly: Self {
        .enabled(if: Nightly.isRunning, "a test of `make test-nightly`")
    }
}
