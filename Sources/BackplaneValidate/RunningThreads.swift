import BackplaneHost
import Foundation

/// The threads of this process, by their names, but for those of libdispatch's pool, which the Swift runtime keeps for everybody.
///
/// Told by their stacks: a thread is called like the one that it was started on, or as somebody likes.
struct RunningThreads {
    private let names: [Int32: String]

    init() {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []).compactMap { Int32($0) }
        var names: [Int32: String] = [:]
        for number in numbers {
            guard let name = try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8) else { continue }
            names[number] = name.trimmingCharacters(in: .newlines)
        }
        self.names = names
    }

    /// The names of those that were not there before.
    ///
    /// - Parameter library: a thread of the pool counts while it is in code of this file.
    func since(_ before: RunningThreads, running library: String) -> [String] {
        names.filter { before.names[$0.key] == nil && !PoolThread.isIdle($0.key, besides: library) }.map(\.value).sorted()
    }
}

extension RunningThreads {
    /// Has the runtime make what it keeps for everybody from its first use on: threads, and the files that timers and events need.
    static func warmUp() async {
        await withCheckedContinuation { done in DispatchQueue.global().async { done.resume() } }
        await withCheckedContinuation { done in DispatchQueue(label: "warm").async { done.resume() } }
        await withCheckedContinuation { done in DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { done.resume() } }
        await withCheckedContinuation { done in DispatchQueue.global().asyncAfter(wallDeadline: .now() + .milliseconds(1)) { done.resume() } }
        try? await Task.sleep(for: .milliseconds(1), clock: .continuous)
        try? await Task.sleep(for: .milliseconds(1), clock: .suspending)
    }
}
