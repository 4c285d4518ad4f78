import Backplane
import BackplaneHost

/// What events mean.
extension WatchedPlaces {
    /// Reads what the kernel has noted, and acts on it; not for ever, however fast more comes.
    mutating func look() {
        for _ in 0..<64 {
            let events = (try? inotify.events()) ?? []
            if events.isEmpty { return }
            for event in events { take(event) }
            let found = strays
            strays = []
            for tree in found { attempt { places throws(BackplaneError) in try places.find(tree) } }
        }
    }

    private mutating func take(_ event: Inotify.Event) {
        if event.kinds.contains(.overflow) { return lookAgain() }
        guard let places = users[event.watch]?.places else { return }
        for place in places { take(event, at: place) }
        if event.kinds.contains(.ignored) { lose(event.watch) }
    }

    /// The kernel has thrown events away: folders may have come and gone unnoticed.
    private mutating func lookAgain() {
        news.isComplete = false
        for number in trees.keys {
            attempt { places throws(BackplaneError) in
                try places.find(number)
                if let tree = places.trees[number], let root = tree.root, tree.wanted.extent != .file { try places.visit(root, telling: false) }
            }
        }
    }

    /// The kernel watches this folder no more.
    private mutating func lose(_ watch: Int32) {
        guard let lost = users.removeValue(forKey: watch) else { return }
        for number in lost.places {
            places[number]?.watch = nil
            guard let place = places[number] else { continue }
            if place.parent == nil { strays.insert(place.tree) } else { forget(number) }
        }
    }

    private mutating func take(_ event: Inotify.Event, at number: Int) {
        guard let place = places[number], let tree = trees[place.tree] else { return }
        guard let name = event.name else {
            if place.parent == nil { strays.insert(place.tree) }
            return
        }
        switch place.role {
        case .step(name):
            if !event.kinds.isDisjoint(with: .naming) { strays.insert(place.tree) }
        case .file(name):
            take(event, ofFile: place.path.appending(name), told: tree.wanted.path)
        case .folder where !tree.wanted.skipped.contains(name):
            if event.kinds.contains(.ofFolder) {
                if tree.wanted.extent == .recursive { take(event, ofFolder: name, in: number) }
            } else if tree.wanted.names.contains(name) {
                let file = place.path.appending(name)
                take(event, ofFile: file, told: file.text)
            }
        case .step, .file, .folder: break
        }
    }

    private mutating func take(_ event: Inotify.Event, ofFolder name: RawPath, in number: Int) {
        if !event.kinds.isDisjoint(with: [.movedAway, .deleted]) {
            if let folder = places[number]?.folders[name] { forget(folder) }
            // Of files that are removed each is told of; those in a folder that moves are not.
            if event.kinds.contains(.movedAway), let path = places[number]?.path { news.paths.insert(path.appending(name).text) }
        } else if !event.kinds.isDisjoint(with: [.created, .movedHere]) {
            let folder = folder(name, in: number)
            // The same as when it was found in a list has been watched since.
            if (try? bind(folder)) == false { return }
            attempt { places throws(BackplaneError) in try places.visit(folder, telling: true) }
        }
    }

    /// Does what may exceed the kernel's limit: then that is a problem, and what happens there is not seen.
    private mutating func attempt(_ action: (inout WatchedPlaces) throws(BackplaneError) -> Void) {
        do throws(BackplaneError) { try action(&self) } catch {
            news.isComplete = false
            news.add(error)
        }
    }
}
