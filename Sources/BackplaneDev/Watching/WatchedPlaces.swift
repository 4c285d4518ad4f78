import Backplane
import BackplaneHost

/// All folders that are watched, each for a tree, and what their events mean.
///
/// One folder may be watched for several trees, or on several paths: the kernel then has one number for it.
struct WatchedPlaces {
    struct Tree {
        let wanted: WatchedTree
        let path: RawPath
        /// The folders on the way to it.
        var steps: [Int] = []
        /// Its own folder, or the one that its file is in; `nil`: it is away.
        var root: Int?
    }
    struct Users {
        /// What the kernel was asked for.
        var kinds: Inotify.Kinds = []
        var places: Set<Int> = []
    }

    let inotify: Inotify
    var trees: [Int: Tree] = [:]
    var places: [Int: WatchedPlace] = [:]
    /// By the kernel's number.
    var users: [Int32: Users] = [:]
    /// Trees whose way is to be looked at again.
    var strays: Set<Int> = []
    var news = WatchedChanges()
    var unfinished = UnfinishedFiles()
    private var lastNumber = 0

    init(_ inotify: Inotify) { self.inotify = inotify }

    /// What has happened since this was last asked.
    mutating func takeNews() -> WatchedChanges {
        defer { news = WatchedChanges() }
        return news
    }

    mutating func replace(_ wanted: [WatchedTree]) throws(BackplaneError) {
        let old = trees, known = Set(old.values.map(\.wanted)), all = Set(wanted)
        do throws(BackplaneError) {
            for tree in all.subtracting(known) { try begin(tree) }
        } catch {
            for number in trees.keys where old[number] == nil { end(number) }
            throw error
        }
        for (number, tree) in old where !all.contains(tree.wanted) { end(number) }
    }

    private mutating func begin(_ wanted: WatchedTree) throws(BackplaneError) {
        let path = RawPath(wanted.path), number = nextNumber()
        guard !path.bytes.contains(0) else {
            throw BackplaneError(.watchUnreadable, "expected the path of a folder or a file, found one with a zero byte: no file has such a name", at: wanted.path)
        }
        trees[number] = Tree(wanted: wanted, path: path)
        try find(number, isNew: true)
    }

    private mutating func end(_ number: Int) {
        guard let tree = trees[number] else { return }
        for step in tree.steps { forget(step) }
        if let root = tree.root { forget(root) }
        trees[number] = nil
    }

    mutating func add(_ place: WatchedPlace) -> Int {
        let number = nextNumber()
        places[number] = place
        return number
    }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
