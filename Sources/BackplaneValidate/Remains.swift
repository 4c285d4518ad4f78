import BackplaneProcesses
import Glibc

/// What there is of threads, processes and files that was not there before, and what is gone of files.
struct Remains: Codable, Sendable {
    var threads, processes, files, closed: [String]

    /// What was there before.
    struct Baseline {
        let threads = RunningThreads(), processes = Descendants(), files = OpenFiles()
    }

    init() { (threads, processes, files, closed) = ([], [], [], []) }

    /// Waits more than half a second for threads and processes: they take a moment to end.
    ///
    /// - Parameter library: the copy of the library whose they may be.
    init(since before: Baseline, of library: String) {
        self.init()
        // A look takes its time where many processes run.
        for pause: UInt32 in [0, 10, 20, 40, 80, 160, 320] {
            usleep(1_000 * pause)
            threads = RunningThreads().since(before.threads, running: library)
            processes = Descendants(besides: before.processes).names.values.sorted()
            if threads.isEmpty && processes.isEmpty { break }
        }
        let now = OpenFiles()
        (files, closed) = (now.since(before.files), now.closed(since: before.files))
    }

    static func += (all: inout Self, more: Self) {
        all.threads += more.threads
        all.processes += more.processes
        all.files += more.files
        all.closed += more.closed
    }

    /// Threads and processes, as findings.
    func running(_ advice: String) -> [String] {
        threads.counted.map { "a thread called `\($0.name)` goes on\($0.times); \(advice)" }
            + processes.counted.map { "a process called `\($0.name)` goes on\($0.times); \(advice)" }
    }

    /// Files, as findings.
    func open(_ advice: String) -> [String] {
        files.counted.map { "\($0.name) is open\($0.times); \(advice)" } + closed.counted.map { "it closed \($0.name), which is not its own" }
    }
}

extension [String] {
    /// Each once, and how often it is there where that is more.
    fileprivate var counted: [(name: String, times: String)] {
        Dictionary(map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }.map { ($0.key, $0.value > 1 ? " \($0.value) times" : "") }
    }
}
