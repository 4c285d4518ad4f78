import Foundation
import Glibc

/// The name, state and parent of a process or a thread, as its file `stat` contains them (proc_pid_stat(5)).
struct ProcessStatus {
    let id: pid_t
    let parent: pid_t
    let name: String
    private let state: UInt8

    /// A Boolean value that indicates whether the process is a zombie or dead.
    var hasEnded: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }
    /// A Boolean value that indicates whether the process is stopped by a signal or a debugger.
    var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }

    /// Reads all statuses in a folder: those of processes in `/proc`, those of a process's threads in its `task`.
    static func all(in folder: String) -> [ProcessStatus] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { pid_t($0) }
            .compactMap { ProcessStatus($0, in: folder) }
    }

    private init?(_ id: pid_t, in folder: String) {
        // "12 (a name, of whatever characters) S 1 …"
        guard let line = FileManager.default.contents(atPath: "\(folder)/\(id)/stat"),
            let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let rest = line[(close + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard rest.count > 1, let state = rest[0].first, let parent = pid_t(String(decoding: rest[1], as: UTF8.self))
        else { return nil }
        (self.id, self.parent, self.state) = (id, parent, state)
        name = String(decoding: line[(open + 1)..<close], as: UTF8.self)
    }
}
