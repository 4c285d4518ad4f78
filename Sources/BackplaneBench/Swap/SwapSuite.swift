import Backplane
import BackplaneHost
import BackplaneTurnstile

/// What a swap costs who asks for it and who calls meanwhile, what it leaves behind, and that nothing is lost.
///
/// The plugin is a turnstile with a little state, its library built anew before every swap and, but for a row, without debug information, as one
/// deploys it; copies are loaded from a folder on a disk, as they are by default. Every round has a process of its own.
///
/// Peers, measured on a machine with two cores, as bounds were set. Erlang/OTP 25 upgrades a process with state in 0.29 ms (p99 0.47), its
/// callers see a gap of 0.41 ms (1.2 at most), none lost. Apache Felix updates a bundle in 0.9–1.5 ms (p99 5.8), its callers find no
/// service for 3–4.5 ms (12 at most), every time; Equinox takes 1.4–1.7 ms (p99 8), and its callers find none for 3 ms (14 at most).
/// An update leaves 0.6 KB behind in Erlang, 3–36 in Felix and 7–53 in Equinox, which can unload code.
extension BenchSuite {
    static let swap = BenchSuite(name: "swap") { folder, _ in
        let rows = [
            IdleSwapRows(.swift, in: folder).rows, IdleSwapRows(.c, in: folder).rows,
            LoadedSwapRows(.fastest, in: folder).rows, LoadedSwapRows(.encoded, in: folder).rows,
            ManySwapRows(.swift, in: folder).rows, ManySwapRows(.c, in: folder).rows, FaultySwapRows(in: folder).rows,
        ]
        return Opened(rows: rows.flatMap(\.self), remark: "of 7 rounds, each in processes of its own; of what must not happen the highest count of all") {}
    }
}
