import Foundation
import Glibc
import TestGenerators

/// Hosts whose data lie on a file system that becomes full, and has room again.
struct FullDisks: Attack {
    static let name = "disks", what = "file systems that become full while records are written", count = 10, share = 10,
        isParallel = false

    private let site: Site
    private let manifest: String

    init(at site: Site) throws {
        self.site = site
        manifest = try site.keeper()
        try Self.mounted(try site.folder("probe"), size: 256) { _ in }
    }

    /// Mounts a file system of that many KB for as long as `body` runs.
    private static func mounted(_ path: String, size: Int, _ body: (String) throws -> Void) throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_NOSUID) | UInt(MS_NODEV), "size=\(size)k,mode=0700") == 0 else {
            throw NotPossible("no file system can be mounted (\(String(cString: strerror(errno)))); this needs root")
        }
        defer { umount2(path, Int32(MNT_DETACH)) }
        try body(path)
    }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        let folder = try site.folder("d\(trial)"), disk = try site.folder("d\(trial)/disk")
        let size = Int.random(in: 64...2_048, using: &numbers), ballast = Int.random(in: 0...size, using: &numbers)
        var result = Trial(outcome: "refused")
        try Self.mounted(disk, size: size) { disk in
            let subject = "a disk of \(size) KB with \(ballast) KB in use"
            let weight = disk + "/ballast"
            _ = FileManager.default.createFile(atPath: weight, contents: Data(count: ballast << 10))
            let host = try RunningHost(manifest, ["--data", disk + "/data"], in: folder)
            guard host.isUp() else {
                result.findings = Trial(host.process, "a start on \(subject)", input: 0, usual: .max >> 1).findings
                result.outcome = "not started"
                return
            }
            var kept: Set<String> = [], refusal: String?
            for number in 0..<4_000 where refusal == nil {
                let answer =
                    host.ask(["request": "call", "manager": "Keeper", "method": "keep", "input": "\(number)"]) ?? ""
                if answer.contains(#""result""#) { kept.insert(Kills.id(number)) } else { refusal = answer }
            }
            if let refusal {
                if !refusal.lowercased().contains("full") && !refusal.contains("space") {
                    result.findings.append(
                        "\(subject): the refusal does not say that it is full: \(refusal.prefix(300))")
                }
            } else {
                result.outcome = "accepted"
            }
            unlink(weight)
            let list = host.call("Keeper", "list").flatMap {
                try? JSONDecoder().decode([String].self, from: Data($0.utf8))
            }
            if host.process.hasEnded() {
                result.findings.append("\(subject): the host \(host.process.ending!)")
            } else if list == nil {
                result.findings.append("\(subject): the host cannot say any more what is kept")
            } else if !kept.isSubset(of: list!) {
                result.findings.append("\(subject): \(kept.subtracting(list!).count) acknowledged records are lost")
            }
            host.process.signal(SIGTERM)
            if case let ending = host.process.wait(), ending != .exit(0) {
                result.findings.append("\(subject): the host \(ending) when it was told to stop")
            }
        }
        return result
    }
}
