import BackplaneHost

/// A folder that is watched for a tree.
struct WatchedPlace {
    enum Role {
        /// It leads to a tree, by the entry of this name.
        case step(RawPath)
        /// It is in a tree, or is its root.
        case folder
        /// It holds the file of this name, which is the tree.
        case file(RawPath)
    }

    let tree: Int
    let role: Role
    let path: RawPath
    /// The place of the folder it lies in; `nil` for a tree's root and for a step.
    let parent: Int?
    var kinds: Inotify.Kinds
    /// The kernel's number; `nil`: not watched yet, or not any more.
    var watch: Int32?
    /// The places of folders in it, by their names.
    var folders: [RawPath: Int] = [:]

    init(tree: Int, _ role: Role, _ path: RawPath, parent: Int? = nil, _ kinds: Inotify.Kinds) {
        (self.tree, self.role, self.path, self.parent, self.kinds) = (tree, role, path, parent, kinds)
    }
}

extension Inotify.Kinds {
    /// That the folder itself goes.
    static let itself: Self = [.selfMoved, .selfDeleted, .exceptUnlinked]
    /// That its names come to mean something else.
    static let naming: Self = [.created, .deleted, .movedHere, .movedAway]
    static let everything: Self = [.itself, .naming, .written]
}
