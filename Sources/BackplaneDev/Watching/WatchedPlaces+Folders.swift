import Backplane
import BackplaneHost
import Glibc

/// Beginning and ending to watch folders.
extension WatchedPlaces {
    /// Watches the place's folder, whichever lies at its path by now.
    ///
    /// - Returns: whether it is another one than before.
    @discardableResult
    mutating func bind(_ number: Int) throws(SystemError) -> Bool {
        guard let place = places[number] else { return false }
        let watch = try inotify.add(place.path, place.kinds.union(.asWell))
        users[watch, default: Users()].kinds.formUnion(place.kinds)
        if place.watch == watch { return false }
        unbind(number)
        users[watch]?.places.insert(number)
        places[number]?.watch = watch
        return true
    }

    /// Watches the place and, in a recursive tree, all folders below it: those it holds by now, and no others.
    ///
    /// Watched first, then listed: what comes in between is seen twice, never missed.
    ///
    /// - Parameter telling: whether the files that are there already are news.
    /// - Throws: `watch.limit`. Another folder that cannot be watched is passed over, and is a problem among the news.
    mutating func visit(_ number: Int, telling: Bool) throws(BackplaneError) {
        guard let place = places[number], let tree = trees[place.tree]?.wanted else { return }
        let isRecursive = tree.extent == .recursive
        var entries: [FileTree.Entry] = []
        do throws(SystemError) {
            try bind(number)
            if isRecursive || telling { entries = try FileTree.entries(in: place.path) }
        } catch {
            forget(number)
            return try pass(over: place.path, error)
        }
        var gone = place.folders
        for entry in entries where telling || entry.kind == .folder {
            if tree.skipped.contains(entry.name) { continue }
            if entry.kind == .folder {
                guard isRecursive else { continue }
                gone[entry.name] = nil
                try visit(folder(entry.name, in: number), telling: telling)
            } else if telling, tree.names.contains(entry.name) {
                let file = place.path.appending(entry.name)
                consider(file, told: file.text)
            }
        }
        for folder in gone.values { forget(folder) }
    }

    /// The place of a folder in another one's; a new one that is not watched yet where there was none.
    mutating func folder(_ name: RawPath, in parent: Int) -> Int {
        if let known = places[parent]?.folders[name] { return known }
        guard let place = places[parent] else { preconditionFailure("a folder in a place that is forgotten") }
        let number = add(WatchedPlace(tree: place.tree, .folder, place.path.appending(name), parent: parent, [.everything, .notThroughLink]))
        places[parent]?.folders[name] = number
        return number
    }

    /// Watches the place no more, nor any below it.
    mutating func forget(_ number: Int) {
        guard let place = places[number] else { return }
        for folder in place.folders.values { forget(folder) }
        unbind(number)
        places[number] = nil
        if let parent = place.parent {
            if let name = place.path.names.last { places[parent]?.folders[name] = nil }
        } else if trees[place.tree]?.root == number {
            trees[place.tree]?.root = nil
        }
    }

    /// What it means that a folder cannot be watched.
    mutating func pass(over path: RawPath, _ error: SystemError) throws(BackplaneError) {
        // Gone by now, or another thing, which the folder it was in tells.
        if [ENOENT, ENOTDIR, ELOOP].contains(error.number) { return }
        let problem = Inotify.problem(error, watching: path.text)
        if problem.code == .watchLimit { throw problem }
        news.add(problem)
    }

    private mutating func unbind(_ number: Int) {
        guard let watch = places[number]?.watch else { return }
        places[number]?.watch = nil
        guard users[watch]?.places.remove(number) != nil else { return }
        if users[watch]?.places.isEmpty == true {
            users[watch] = nil
            inotify.remove(watch)
        } else {
            narrow(watch)
        }
    }

    /// Asks of a folder only for what those who still watch it want, so that nobody is woken for the rest.
    private mutating func narrow(_ watch: Int32) {
        guard let user = users[watch], let path = user.places.first.flatMap({ places[$0]?.path }) else { return }
        let wanted = user.places.reduce(into: Inotify.Kinds()) { $0.formUnion(places[$1]?.kinds ?? []) }
        guard wanted != user.kinds, let found = try? inotify.add(path, wanted) else { return }
        if found == watch {
            users[watch]?.kinds = wanted
        } else if let other = users[found] {
            // Another folder lies there now, of which more is wanted.
            _ = try? inotify.add(path, other.kinds)
        } else {
            inotify.remove(found)
        }
    }
}
