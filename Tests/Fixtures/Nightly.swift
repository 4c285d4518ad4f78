import Foundation
package import Testing

/// The nightly run of the suite.
package enum Nightly {
    package static let isRunning = ProcessInfo.processInfo.environment["BACKPLANE_NIGHTLY"] == "1"

    /// Returns how often a test repeats what it does: a number for each run of the suite, and one for the night.
    package static func count(_ day: Int, night: Int) -> Int { isRunning ? night : day }
}

extension Trait where Self == ConditionTrait {
    /// The condition of tests that take long, compile packages, draw inputs at random, kill hosts or need programs of
    /// others: they run with `BACKPLANE_NIGHTLY=1`, which `make test-nightly` sets.
    package static var nightly: Self {
        .enabled(if: Nightly.isRunning, "a test of `make test-nightly`")
    }
}
