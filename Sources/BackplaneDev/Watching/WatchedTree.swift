import BackplaneHost

/// Files that are watched: all below a folder, those directly in it, or a single one.
struct WatchedTree: Sendable, Hashable {
    enum Extent: Sendable, Hashable {
        /// A folder with everything below it; symbolic links to folders are not followed there, since they may lead back.
        case recursive
        /// What a folder holds itself.
        case flat
        /// One file.
        case file
    }

    /// From the root on. There may be nothing yet; where it leads through symbolic links they are followed, and noticed when they change.
    let path: String
    let extent: Extent
    /// Which files are told of.
    let names: NamePatterns
    /// Which files and folders below the path are passed over.
    let skipped: NamePatterns

    private init(_ path: String, _ extent: Extent, names: NamePatterns, skipping skipped: NamePatterns) {
        (self.path, self.extent, self.names, self.skipped) = (FilePath.absolute(path), extent, names, skipped)
    }

    static func recursive(_ path: String, names: NamePatterns = .all, skipping skipped: NamePatterns = .hiddenAndLeftovers) -> WatchedTree {
        WatchedTree(path, .recursive, names: names, skipping: skipped)
    }

    static func flat(_ path: String, names: NamePatterns = .libraries, skipping skipped: NamePatterns = .hiddenAndLeftovers) -> WatchedTree {
        WatchedTree(path, .flat, names: names, skipping: skipped)
    }

    static func file(_ path: String) -> WatchedTree {
        WatchedTree(path, .file, names: .all, skipping: [])
    }
}
