import BackplaneSwapLoad

// The latency of `backplane dev` from a new library to its first answer and from a crash to the line that names the
// plugin, and its cost while idle.
extension BenchSuite {
    static let dev = BenchSuite(name: "dev") { folder in
        let rows = [
            SavedRows(.swift, in: folder).rows, SavedRows(.c, in: folder).rows, RenamedRows(in: folder).rows,
            CrashRows(in: folder).rows, IdleDevRows(in: folder).rows,
            FreshPackageRows(in: folder).rows,
        ]
        return Opened(rows: rows.flatMap(\.self)) {}
    }
}
