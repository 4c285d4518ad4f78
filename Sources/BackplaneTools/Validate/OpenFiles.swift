import Foundation

/// The open files of this process, by descriptor.
struct OpenFiles {
    private let targets: [Int: String]

    init() {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap {
            Int($0)
        }
        var targets: [Int: String] = [:]
        for number in numbers {
            // The descriptor with which the folder was listed is closed by now.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            else { continue }
            targets[number] = target
        }
        self.targets = targets
    }

    /// Returns the targets of descriptors that were opened or redirected since an earlier snapshot.
    func since(_ before: OpenFiles) -> [String] {
        targets.filter { before.targets[$0.key] != $0.value }.map { file in
            // The inode numbers of pipes and sockets carry no information.
            file.value.hasPrefix("/") ? file.value : String(file.value.prefix { $0 != ":" })
        }.sorted()
    }

    /// Returns the descriptors that were closed or redirected since an earlier snapshot, as phrases for findings.
    func closed(since before: OpenFiles) -> [String] {
        before.targets.filter { targets[$0.key] != $0.value }.keys.sorted().map { number in
            number < 3
                ? ["standard input", "standard output", "standard error"][number] : "a file that was open before"
        }
    }
}
