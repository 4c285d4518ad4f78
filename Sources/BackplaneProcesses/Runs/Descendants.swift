package import Foundation
import Glibc

/// The living descendants of this process, with their names.
///
/// If this process adopts orphans (`bph_adopt_orphans()`), they include those whose parents have ended.
package struct Descendants {
    package private(set) var names: [pid_t: String] = [:]

    /// Lists the descendants.
    ///
    /// - Parameter others: Processes to leave out, with their descendants.
    package init(besides others: Descendants? = nil) {
        let children = Dictionary(grouping: Self.processes().filter { others?.names[$0.id] == nil }, by: \.parent)
        var parents = [getpid()], seen: Set<pid_t> = []
        while let parent = parents.popLast() {
            for child in children[parent] ?? [] where seen.insert(child.id).inserted {
                // A zombie can still have children: its main thread may have ended before the others.
                if child.isLiving { names[child.id] = child.name }
                parents.append(child.id)
            }
        }
    }

    /// Kills all descendants and waits until they are gone, repeatedly since they may start others, for about a second.
    package static func end(besides others: Descendants? = nil) {
        for _ in 0..<200 {
            let left = Descendants(besides: others).names.keys
            if left.isEmpty { return }
            for id in left { kill(id, SIGKILL) }
            usleep(5_000)
        }
    }

    private static func processes() -> [(id: pid_t, parent: pid_t, name: String, isLiving: Bool)] {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
        return numbers.compactMap { id in
            // "12 (a name, of whatever characters) S 1 …"
            guard let status = FileManager.default.contents(atPath: "/proc/\(id)/stat"),
                let open = status.firstIndex(of: UInt8(ascii: "(")),
                let close = status.lastIndex(of: UInt8(ascii: ")"))
            else { return nil }
            let rest = status[(close + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard rest.count > 1, let state = rest[0].first,
                let parent = pid_t(String(decoding: rest[1], as: UTF8.self))
            else { return nil }
            return (
                id, parent, String(decoding: status[(open + 1)..<close], as: UTF8.self),
                state != UInt8(ascii: "Z") && state != UInt8(ascii: "X")
            )
        }
    }
}
