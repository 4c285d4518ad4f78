import Foundation
import Glibc

/// What is there of threads and files that was not before.
struct Remains {
    let threads, files: [String]

    /// Waits up to half a second for threads: they take a moment to end.
    init(since threads: RunningThreads, _ files: OpenFiles) {
        for _ in 0..<50 where !RunningThreads().since(threads).isEmpty { usleep(10_000) }
        (self.threads, self.files) = (RunningThreads().since(threads), OpenFiles().since(files))
    }
}

/// The threads of this process, but for those that the Swift runtime keeps for everybody.
struct RunningThreads {
    private let names: [Int: String]

    init() {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []).compactMap { Int($0) }
        var names: [Int: String] = [:]
        for number in numbers {
            guard let name = try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8) else { continue }
            names[number] = name.trimmingCharacters(in: .newlines)
        }
        self.names = names.filter { !$0.value.hasSuffix("-qos") && !$0.value.hasPrefix("com.apple.") && !$0.value.hasPrefix("bp-") }
    }

    /// The names of those that were not there before.
    func since(_ before: RunningThreads) -> [String] {
        names.filter { before.names[$0.key] == nil }.map(\.value).sorted()
    }
}

/// The files that this process has open.
struct OpenFiles {
    private let targets: [Int: String]

    init() {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap { Int($0) }
        var targets: [Int: String] = [:]
        for number in numbers {
            // The one that lists the folder is gone by now.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)") else { continue }
            targets[number] = target
        }
        self.targets = targets
    }

    /// What those lead to that were not there before.
    func since(_ before: OpenFiles) -> [String] {
        targets.filter { before.targets[$0.key] != $0.value }.map { file in
            // The numbers of pipes and sockets say nothing.
            file.value.hasPrefix("/") ? file.value : String(file.value.prefix { $0 != ":" })
        }.sorted()
    }
}
