import Foundation
package import Testing

extension Trait where Self == ConditionTrait {
    /// The condition of tests that take long, compile packages, draw inputs at random, attack hosts or need programs of
    /// others: they run with `BACKPLANE_NIGHTLY=1`, which `make test-nightly` sets.
    package static var nightly: Self {
        .enabled(if: ProcessInfo.processInfo.environment["BACKPLANE_NIGHTLY"] == "1", "a test of `make test-nightly`")
    }
}
