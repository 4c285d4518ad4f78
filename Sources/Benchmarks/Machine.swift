import BackplaneTools
import Glibc

/// The machine on which the benchmarks run.
enum Machine {
    /// The average number of runnable threads in the last minute and the number of processors.
    struct Load: CustomStringConvertible {
        var threads: Double
        var processors: Int

        /// A Boolean value that indicates whether the benchmarks would compete for processors.
        var isBusy: Bool { threads > Double(processors) / 2 }
        var description: String { "load \(Int(threads.rounded(.up))) on \(counted(processors, "processor"))" }
    }

    /// The current load, or `nil` if the system does not report it.
    static var load: Load? {
        var average = 0.0
        guard getloadavg(&average, 1) == 1 else { return nil }
        return Load(threads: average, processors: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
