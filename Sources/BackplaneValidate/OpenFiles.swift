import Foundation

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

    /// What was open before and is not any more, or leads elsewhere, as sentences have it.
    func closed(since before: OpenFiles) -> [String] {
        before.targets.filter { targets[$0.key] != $0.value }.keys.sorted().map { number in
            number < 3 ? ["standard input", "standard output", "standard error"][number] : "a file that was open before"
        }
    }
}
