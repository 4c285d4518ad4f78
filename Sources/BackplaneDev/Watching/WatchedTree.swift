import BackplaneHost

/// Files that are watched: all below a folder, the libraries directly in one, or a single one.
struct WatchedTree: Sendable, Hashable {
    enum Extent: Sendable, Hashable {
        /// A folder with everything below it; symbolic links to folders are not followed there, since they may lead back.
        case recursive
        /// The libraries that a folder holds itself.
        case libraries
        case file
    }

    /// From the root on. There may be nothing yet; symbolic links on the way are followed, and noticed when they change.
    let path: String
    let extent: Extent

    init(_ path: String, _ extent: Extent) { (self.path, self.extent) = (FilePath.absolute(path), extent) }

    /// Whether a file or a folder of this name belongs to it. Build folders and repositories are hidden, and editors leave files beside the
    /// one that they save: `4913` is Vim's, to try whether it may write there.
    func contains(_ name: String) -> Bool {
        switch extent {
        case .recursive: !name.hasPrefix(".") && !name.hasSuffix("~") && !(name.hasPrefix("#") && name.hasSuffix("#")) && name != "4913"
        case .libraries: name.hasPrefix("lib") && name.hasSuffix(".so")
        case .file: false
        }
    }
}
