/// What `backplane dev` takes from a library to its first answer, and while nothing happens.
extension BenchSuite {
    static let dev = BenchSuite(name: "dev") { folder in
        Opened(rows: SavedRows(.swift, in: folder).rows + SavedRows(.c, in: folder).rows) {}
    }
}
