import Foundation
import Synchronization
import TestFixtures

/// Hosts that are killed while four writers write. The next host has to have every record that was acknowledged.
struct Kills: Attack {
    static let name = "kills", what = "hosts killed while four writers write, and what the next one has", count = 100,
        share = 20, isParallel = false
    private static let writers = 4

    private let site: Site
    private let manifest: String
    private let records = Records()

    private final class Records: Sendable {
        let next = Mutex(0)
        let acknowledged = Mutex<Set<String>>([])
    }

    init(at site: Site) throws {
        self.site = site
        manifest = try site.numberStore()
    }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        let host = try RunningHost(manifest, ["--data", site.path + "/data"], in: site.path)
        let delay = UInt32.random(in: 0...250_000, using: &numbers)
        if numbers.once(in: 6) {
            usleep(delay)
            host.process.kill()
            return Trial(outcome: "killed while it started")
        }
        guard host.isUp() else {
            return Trial(
                outcome: "died", findings: ["the host after a kill \(host.process.kill()): \(host.process.said)"])
        }
        let findings = lost(by: host)
        let ended = DispatchGroup()
        for _ in 0..<Self.writers {
            ended.enter()
            Thread.detachNewThread { [records] in
                while true {
                    let number = records.next.withLock { next in
                        next += 1
                        return next
                    }
                    guard host.call("NumberStore", "keep", "\(number)") == "null" else { break }
                    _ = records.acknowledged.withLock { $0.insert(Self.id(number)) }
                }
                ended.leave()
            }
        }
        usleep(delay)
        host.process.kill()
        ended.wait()
        return Trial(outcome: "killed", findings: findings)
    }

    func end() throws -> Trial? {
        let host = try RunningHost(manifest, ["--data", site.path + "/data"], in: site.path)
        guard host.isUp() else {
            return Trial(outcome: "died", findings: ["the last host does not come up: \(host.process.said)"])
        }
        let findings = lost(by: host), count = records.acknowledged.withLock { $0.count }
        host.process.signal(SIGTERM)
        host.process.wait()
        return Trial(outcome: "look at \(count) records", findings: findings)
    }

    /// The acknowledged records that a host does not have.
    private func lost(by host: RunningHost) -> [String] {
        guard let list = host.call("NumberStore", "list"),
            let ids = try? JSONDecoder().decode([String].self, from: Data(list.utf8))
        else { return ["the host after a kill cannot say what is kept: \(host.process.said)"] }
        let lost = records.acknowledged.withLock { $0 }.subtracting(ids).sorted()
        return lost.isEmpty
            ? [] : ["\(lost.count) acknowledged records are lost: \(lost.prefix(8).joined(separator: ", "))"]
    }

    static func id(_ number: Int) -> String { String(repeating: "0", count: 8 - "\(number)".count) + "\(number)" }
}
