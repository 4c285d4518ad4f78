import Backplane
import BackplaneHost
import BackplaneSwapLoad

// The cost of a swap for its initiator and for callers, its lasting effects, and the proof that no call is lost.
//
// The plugin is a turnstile with a little state, whose library is rebuilt before every swap and stripped of debug
// information, as for deployment, except in one row. Copies are loaded from a folder on disk, which is the default.
// Every round has a process of its own.
//
// Peers were measured when the bounds were set, on a machine with two cores. Erlang/OTP 25 upgrades a process with
// state in 0.29 ms (p99 0.47); its callers see a gap of 0.41 ms (at most 1.2), and no call is lost. Apache Felix
// updates a bundle in 0.9–1.5 ms (p99 5.8); every time, its callers find no service for 3–4.5 ms (at most 12). Equinox
// takes 1.4–1.7 ms (p99 8), and its callers find no service for 3 ms (at most 14). An update leaves 0.6 KB behind in
// Erlang, 3–36 KB in Felix and 7–53 KB in Equinox, which can unload code.
extension BenchSuite {
    static let swap = BenchSuite(name: "swap") { folder in
        let rows = [
            IdleSwapRows(.swift, in: folder).rows, IdleSwapRows(.c, in: folder).rows,
            LoadedSwapRows(.fastest, in: folder).rows, LoadedSwapRows(.encoded, in: folder).rows,
            AppliedSwapRows(in: folder).rows, LongCallSwapRows(in: folder).rows,
            ErrandSwapRows(in: folder).rows, StatefulSwapRows.all(in: folder),
            ManySwapRows(.swift, in: folder).rows, ManySwapRows(.c, in: folder).rows,
            FaultySwapRows(in: folder).rows, FaultySwapRows(appliesManifest: true, in: folder).rows,
        ]
        return Opened(
            rows: rows.flatMap(\.self),
            remark: "of 7 rounds, each in processes of its own; of what must not happen the highest count of all"
        ) {}
    }
}
