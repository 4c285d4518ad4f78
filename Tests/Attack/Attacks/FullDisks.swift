import Foundation
import Glibc
import TestFixtures

/// Hosts whose data lie on a file system that becomes full, and has room again.
struct FullDisks: Attack {
    static let name = "disks", what = "file systems that become full while records are written", count = 10, share = 10,
        isParallel = false

    private let site: Site
    private let manifest: String

    init(at site: Site) throws {
        self.site = site
        manifest = try site.numberStore()
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
        let isKilled = numbers.once(in: 2)
        var result = Trial(outcome: "refused")
        try Self.mounted(disk, size: size) { disk in
            let subject = "a disk of \(size) KB with \(ballast) KB in use", weight = disk + "/ballast"
            _ = FileManager.default.createFile(atPath: weight, contents: Data(count: ballast << 10))
            let host = try RunningHost(manifest, ["--data", disk + "/data"], in: folder)
            guard host.isUp() else {
                result.findings = Trial(host.process, "a start on \(subject)", input: 0, usual: .max >> 1).findings
                result.outcome = "not started"
                return
            }
            let (kept, refusal) = fill(host)
            if let refusal {
                if !Self.saysFull(refusal) {
                    result.findings.append(
                        "\(subject): the refusal does not say that it is full: \(refusal.prefix(300))")
                }
            } else {
                result.outcome = "accepted"
            }
            // A store that is open needs no room to be read; one that could not be opened has nothing in it.
            if !isKilled { unlink(weight) }
            result.findings += judge(host, kept, mayBeFull: kept.isEmpty).map { "\(subject): \($0)" }
            result.findings += end(host, byKilling: isKilled).map { "\(subject): \($0)" }
            for (name, mayBeFull) in [("the next host", true), ("the host with room again", false)] {
                if !mayBeFull { try Self.remount(disk, size: size + 1_024) }
                let next = try RunningHost(manifest, ["--data", disk + "/data"], in: folder)
                guard next.isUp() else {
                    result.findings +=
                        Trial(
                            next.process, "the start of \(name) on \(subject)", input: 0, usual: .max >> 1
                        ).findings
                    continue
                }
                result.findings += judge(next, kept, mayBeFull: mayBeFull).map { "\(subject): \(name): \($0)" }
                result.findings += end(next, byKilling: false).map { "\(subject): \(name): \($0)" }
            }
        }
        return result
    }

    /// Keeps records until one is refused, and returns those that were acknowledged.
    private func fill(_ host: RunningHost) -> (kept: Set<String>, refusal: String?) {
        var kept: Set<String> = []
        for number in 0..<4_000 {
            let request = ["request": "call", "manager": "NumberStore", "method": "keep", "input": "\(number)"]
            let answer = host.ask(request) ?? ""
            guard answer.contains(#""result""#) else { return (kept, answer) }
            kept.insert(Kills.id(number))
        }
        return (kept, nil)
    }

    /// Returns what is wrong with a host's list, which has every record that was acknowledged.
    ///
    /// - Parameter mayBeFull: Whether the host may say instead that the disk is full.
    private func judge(_ host: RunningHost, _ kept: Set<String>, mayBeFull: Bool) -> [String] {
        let answer = host.ask(["request": "call", "manager": "NumberStore", "method": "list", "input": "null"]) ?? ""
        if host.process.hasEnded() { return ["the host \(host.process.ending!)\(host.process.lastWords)"] }
        guard let list = RunningHost.output(of: answer),
            let ids = try? JSONDecoder().decode([String].self, from: Data(list.utf8))
        else {
            return mayBeFull && Self.saysFull(answer)
                ? [] : ["the host cannot say what is kept: \(answer.prefix(300))"]
        }
        let lost = kept.subtracting(ids)
        return lost.isEmpty ? [] : ["\(lost.count) acknowledged records are lost"]
    }

    private func end(_ host: RunningHost, byKilling isKilled: Bool) -> [String] {
        if isKilled {
            host.process.kill()
            return []
        }
        host.process.signal(SIGTERM)
        let ending = host.process.wait()
        return ending == .exit(0) ? [] : ["the host \(ending) when it was told to stop"]
    }

    private static func saysFull(_ answer: String) -> Bool { answer.contains("the disk is full") }

    private static func remount(_ path: String, size: Int) throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_NOSUID | MS_NODEV), "size=\(size)k") == 0 else {
            throw NotPossible("\(path) cannot be made larger: \(String(cString: strerror(errno)))")
        }
    }
}
