import BackplaneHost
import Foundation

/// The threads of this process by name.
///
/// Idle threads of libdispatch's pool, which the Swift runtime keeps for all code, do not count. They are recognised by
/// their stacks, because a thread inherits the name of the thread that starts it, and can be renamed.
struct RunningThreads {
    private let names: [Int32: String]

    init() {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []).compactMap {
            Int32($0)
        }
        var names: [Int32: String] = [:]
        for number in numbers {
            guard let name = try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8) else {
                continue
            }
            names[number] = name.trimmingCharacters(in: .newlines)
        }
        self.names = names
    }

    /// Returns the names of threads that have been started since an earlier snapshot.
    ///
    /// - Parameter library: The path of the library; a pool thread with code of this file on its stack counts.
    func since(_ before: RunningThreads, running library: String) -> [String] {
        names.filter { before.names[$0.key] == nil && !PoolThread.isIdle($0.key, besides: library) }.map(\.value)
            .sorted()
    }
}

extension RunningThreads {
    /// Makes the runtime create its shared resources: threads, and the files for timers and events.
    static func warmUp() async {
        await withCheckedContinuation { done in DispatchQueue.global().async { done.resume() } }
        await withCheckedContinuation { done in DispatchQueue(label: "warm").async { done.resume() } }
        await withCheckedContinuation { done in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { done.resume() }
        }
        await withCheckedContinuation { done in
            DispatchQueue.global().asyncAfter(wallDeadline: .now() + .milliseconds(1)) { done.resume() }
        }
        try? await Task.sleep(for: .milliseconds(1), clock: .continuous)
        try? await Task.sleep(for: .milliseconds(1), clock: .suspending)
    }
}
