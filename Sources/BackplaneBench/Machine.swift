import BackplaneTerminal
import Glibc

/// The machine that is measured on.
enum Machine {
    /// How many threads wanted to run in the last minute, and on how many processors.
    struct Load: CustomStringConvertible {
        var threads: Double
        var processors: Int

        /// Whether what is measured would have had to wait for others.
        var isBusy: Bool { threads > Double(processors) / 2 }
        var description: String { "load \(Int(threads.rounded(.up))) on \(counted(processors, "processor"))" }
    }

    /// `nil` where the system does not say.
    static var load: Load? {
        var average = 0.0
        guard getloadavg(&average, 1) == 1 else { return nil }
        return Load(threads: average, processors: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}
