import Backplane
import BackplaneHost
import Glibc

/// Finding the folder of a tree, and staying with it: through links that may be replaced, and past folders that come and go.
extension WatchedPlaces {
    /// Where the way to a tree ends.
    private enum End {
        case away
        case folder
        case file(RawPath, in: RawPath)
    }

    /// Looks where the tree is by now, and tells what that changes.
    ///
    /// - Parameter isNew: nothing is told of what is there already.
    mutating func find(_ number: Int, isNew: Bool = false) throws(BackplaneError) {
        guard let tree = trees[number] else { return }
        // The new steps before the old ones are forgotten, so that a folder which is among both is never unwatched.
        let end = walk(number)
        for step in tree.steps { forget(step) }
        switch end {
        case .away: leave(number)
        case .folder: try enter(number, isNew: isNew)
        case .file(let name, let folder): try enter(number, name, in: folder, isNew: isNew)
        }
    }

    private mutating func leave(_ number: Int) {
        guard let tree = trees[number], let root = tree.root else { return }
        forget(root)
        news.paths.insert(tree.wanted.path)
    }

    private mutating func enter(_ number: Int, isNew: Bool) throws(BackplaneError) {
        guard let tree = trees[number] else { return }
        let root = tree.root ?? add(WatchedPlace(tree: number, .folder, tree.path, .everything))
        trees[number]?.root = root
        do throws(SystemError) {
            guard try bind(root) else { return }
        } catch {
            leave(number)
            return try pass(over: tree.path, error)
        }
        if !isNew { news.paths.insert(tree.wanted.path) }
        try visit(root, telling: !isNew)
    }

    private mutating func enter(_ number: Int, _ name: RawPath, in folder: RawPath, isNew: Bool) throws(BackplaneError) {
        guard let tree = trees[number] else { return }
        let root = add(WatchedPlace(tree: number, .file(name), folder, .everything))
        do throws(SystemError) { try bind(root) } catch {
            forget(root)
            leave(number)
            return try pass(over: folder, error)
        }
        let old = tree.root.flatMap { places[$0] }
        if let root = tree.root { forget(root) }
        trees[number]?.root = root
        if isNew { return }
        if case .file(name)? = old?.role, old?.watch == places[root]?.watch { return }
        let file = folder.appending(name)
        if old != nil, file.kind == nil { tell(file, tree.wanted.path) } else { consider(file, told: tree.wanted.path) }
    }

    private mutating func walk(_ number: Int) -> End {
        trees[number]?.steps = []
        if let end = walk(number, isWary: false) { return end }
        for step in trees[number]?.steps ?? [] { forget(step) }
        trees[number]?.steps = []
        // Somebody removes folders at this moment: every step now watches its names before it looks, so that what it misses is told.
        return walk(number, isWary: true) ?? .away
    }

    /// Follows the path name by name, and watches each folder on it before it looks there.
    ///
    /// - Parameter isWary: each step watches its names, not only those where the way may change: the last one, and those with a link.
    /// - Returns: `nil`: a folder was there, and then was not.
    private mutating func walk(_ number: Int, isWary: Bool) -> End? {
        guard let tree = trees[number] else { return .away }
        var rest = [RawPath](tree.path.names.reversed()), here = RawPath.root, links = 0
        while let name = rest.popLast() {
            if name == RawPath(".") { continue }
            if name == RawPath("..") {
                here = here.folder
                continue
            }
            let next = here.appending(name), step = add(WatchedPlace(tree: number, .step(name), here, .itself))
            trees[number]?.steps.append(step)
            guard stand(on: step) else { return nil }
            if isWary || rest.isEmpty || next.kind != .folder {
                places[step]?.kinds.formUnion(.naming)
                guard stand(on: step) else { return nil }
            }
            let isFile = rest.isEmpty && tree.wanted.extent == .file
            switch next.kind {
            case .link:
                links += 1
                guard links <= Self.mostLinks, let destination = next.destination else { return .away }
                if destination.isAbsolute { here = .root }
                rest += destination.names.reversed()
            case .folder where !isFile: here = next
            default: return isFile ? .file(name, in: here) : .away
            }
        }
        return tree.wanted.extent == .file ? .away : .folder
    }

    /// As many as Linux follows for a path.
    private static var mostLinks: Int { 40 }

    /// Watches a step; `false`: there is no such folder any more. One that may not be read is passed, and changes of it go unnoticed.
    private mutating func stand(on step: Int) -> Bool {
        do throws(SystemError) { try bind(step) } catch { return error.number != ENOENT && error.number != ENOTDIR }
        return true
    }
}
