import BackplaneHost

/// A tree of watched files: a whole tree, the libraries of a folder, or a single file.
struct WatchedTree: Sendable, Hashable {
    enum Extent: Sendable, Hashable {
        /// A folder with everything below it, except for linked folders, which may refer back to it.
        case recursive
        /// The libraries directly in a folder.
        case libraries
        case file
    }

    /// The absolute path, which need not exist; symbolic links in it are followed, and changes to them are detected.
    let path: String
    let extent: Extent

    init(_ path: String, _ extent: Extent) { (self.path, self.extent) = (FilePath.absolute(path), extent) }

    /// Returns whether a file or folder of the given name belongs to the tree.
    ///
    /// Excluded are hidden names, such as build folders and repositories, and temporary files of editors: Vim creates
    /// `4913` to test whether a folder is writable.
    func contains(_ name: String) -> Bool {
        switch extent {
        case .recursive:
            !name.hasPrefix(".") && !name.hasSuffix("~") && !(name.hasPrefix("#") && name.hasSuffix("#"))
                && name != "4913"
        case .libraries: name.hasPrefix("lib") && name.hasSuffix(".so")
        case .file: false
        }
    }
}
