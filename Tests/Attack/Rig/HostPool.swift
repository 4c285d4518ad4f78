import Synchronization

/// Running hosts of one manifest, each used by one trial at a time, and replaced after so many.
final class HostPool: Sendable {
    private let manifest: String
    private let options: [String]
    private let site: Site
    private let lives: Int
    private let free = Mutex<[(host: RunningHost, lives: Int)]>([])
    private let number = Mutex(0)

    /// The beginning of the names of the hosts' folders.
    private let name: String

    init(_ manifest: String, _ options: [String], at site: Site, lives: Int, as name: String = "h") {
        (self.manifest, self.options, self.site, self.lives, self.name) = (manifest, options, site, lives, name)
    }

    func use(_ body: (RunningHost) throws -> Trial) throws -> Trial {
        let (host, lives) = try free.withLock { $0.popLast() } ?? (start(), self.lives)
        let trial = try body(host)
        if host.process.ending == nil, lives > 1 {
            free.withLock { $0.append((host, lives - 1)) }
        } else if let finding = Self.stop(host) {
            return Trial(outcome: trial.outcome, findings: trial.findings + [finding])
        }
        return trial
    }

    private func start() throws -> RunningHost {
        let number = number.withLock { number in
            number += 1
            return number
        }
        let folder = try site.folder("\(name)\(number)")
        let host = try RunningHost(manifest, options + ["--data", folder + "/data"], in: folder)
        guard host.isUp() else { throw NotPossible("no host comes up: \(host.process.said)") }
        return host
    }

    /// Ends a host in order, and gives the finding where it does not end.
    private static func stop(_ host: RunningHost) -> String? {
        if host.process.ending != nil { return nil }
        host.process.signal(15)
        let ending = host.process.wait()
        return ending == .exit(0) ? nil : "a host that was told to stop \(ending)"
    }

    /// Ends all of them.
    func end() -> Trial? {
        let findings = free.withLock { $0 }.compactMap { Self.stop($0.host) }
        return findings.isEmpty ? nil : Trial(outcome: "not stopped", findings: findings)
    }
}
