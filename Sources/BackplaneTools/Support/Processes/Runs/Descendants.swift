package import Glibc

/// The living descendants of a process, with their names.
///
/// If the process adopts orphans (`bph_adopt_orphans()`), they include processes whose parents have ended. The
/// descendants of another process do not include this process and its own descendants.
package struct Descendants {
    package private(set) var names: [pid_t: String] = [:]

    /// Lists the descendants.
    ///
    /// - Parameter others: Processes to exclude, with their descendants.
    package init(of process: pid_t = getpid(), besides others: Descendants? = nil) {
        let all = ProcessStatus.all(in: "/proc").filter { others?.names[$0.id] == nil }
        let children = Dictionary(grouping: all, by: \.parent)
        var parents = [process], seen: Set = [getpid()]
        while let parent = parents.popLast() {
            for child in children[parent] ?? [] where seen.insert(child.id).inserted {
                // A zombie can still have children: its main thread may have ended before the others.
                if !child.hasEnded { names[child.id] = child.name }
                parents.append(child.id)
            }
        }
    }

    /// Kills all descendants for about a second, repeatedly because they may start others, and waits until they have
    /// ended.
    package static func end(of process: pid_t = getpid(), besides others: Descendants? = nil) {
        for _ in 0..<200 {
            let left = Descendants(of: process, besides: others).names.keys
            if left.isEmpty { return }
            for id in left { kill(id, SIGKILL) }
            usleep(5_000)
        }
    }
}
