import Glibc

/// The threads, processes and files that were left behind, and the files that were closed, since a baseline.
struct Remains: Codable, Sendable {
    var threads, processes, files, closed: [String]

    /// The state before the code under test ran.
    struct Baseline {
        let threads = RunningThreads(), processes = Descendants(), files = OpenFiles()
    }

    init() { (threads, processes, files, closed) = ([], [], [], []) }

    /// Compares the current state with a baseline; waits up to 2.5 seconds for threads and processes to end.
    ///
    /// - Parameter library: The loaded copy of the library, whose code a pool thread may be running.
    init(since before: Baseline, of library: String) {
        self.init()
        // Listing takes a while if many processes run, so the pauses grow.
        for pause: UInt32 in [0, 10, 20, 40, 80, 160, 320, 640, 1_280] {
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

    /// Returns the threads and processes as findings.
    func running(_ advice: String) -> [String] {
        threads.counted.map { "a thread called `\($0.name)` keeps running\($0.times); \(advice)" }
            + processes.counted.map { "a process called `\($0.name)` keeps running\($0.times); \(advice)" }
    }

    /// Returns the files as findings.
    func open(_ advice: String) -> [String] {
        files.counted.map { "\($0.name) is open\($0.times); \(advice)" }
            + closed.counted.map { "it closed \($0.name), which it did not open" }
    }
}

extension [String] {
    /// The distinct strings, sorted, with the number of occurrences if there are several.
    fileprivate var counted: [(name: String, times: String)] {
        Dictionary(map { ($0, 1) }, uniquingKeysWith: +).sorted { $0.key < $1.key }.map {
            ($0.key, $0.value > 1 ? " \($0.value) times" : "")
        }
    }
}
