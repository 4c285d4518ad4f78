import Foundation

/// The seed of one run of the tests: taken from the clock and printed, or the one in `BACKPLANE_SEED`.
///
/// Tests whose names and values are drawn repeat those of an earlier run with its seed.
package enum RunSeed {
    /// The seed, which is the same for the whole run.
    package static let value: UInt64 = {
        let chosen = ProcessInfo.processInfo.environment["BACKPLANE_SEED"]
        let seed = chosen.map { UInt64($0) } ?? UInt64(Date.now.timeIntervalSince1970 * 1_000)
        guard let seed else { fatalError("BACKPLANE_SEED: expected a number, found `\(chosen ?? "")`") }
        print("Names are drawn with BACKPLANE_SEED=\(seed).")
        return seed
    }()
}

extension SeededNumbers {
    /// Creates the numbers of one case of a test, which are others in each run.
    package init(ofCase number: some BinaryInteger) { self.init(RunSeed.value &+ UInt64(truncatingIfNeeded: number)) }
}
