import Foundation

/// The seed of one run of the tests: `BACKPLANE_SEED` if set, at night a seed from the clock, otherwise a fixed seed.
///
/// With the seed of an earlier run, tests with random names and values repeat that run.
package enum RunSeed {
    /// The seed, which is the same for the whole run.
    package static let value: UInt64 = {
        let environment = ProcessInfo.processInfo.environment, chosen = environment["BACKPLANE_SEED"]
        let usual = environment["BACKPLANE_NIGHTLY"] == "1" ? UInt64(Date.now.timeIntervalSince1970 * 1_000) : 7
        let seed = chosen.map { UInt64($0) } ?? usual
        guard let seed else { fatalError("BACKPLANE_SEED: expected a number, found `\(chosen ?? "")`") }
        print("Names are drawn with BACKPLANE_SEED=\(seed).")
        return seed
    }()
}

extension SeededNumbers {
    /// Creates the numbers for one case of a test, which differ in each run at night.
    package init(ofCase number: some BinaryInteger) { self.init(RunSeed.value &+ UInt64(truncatingIfNeeded: number)) }
}
