import Foundation
import TestFixtures

/// Hosts that are killed while a data access controller gets another name, and its own again.
///
/// The next host has to have the data, by either name.
struct KilledRenames: Attack {
    static let name = "renames", what = "hosts killed while a data access controller is renamed", count = 20,
        share = 10, isParallel = false
    private static let renames = 4

    private let site: Site
    /// The manifests by the controller's name: that of before, another one that continues it, and that one alone.
    private let former, renamed, bare: String

    init(at site: Site) throws {
        self.site = site
        func manifest(_ controller: String, _ name: String) throws -> String {
            let text = """
                {"manifestVersion": 1, "plugins": [{"library": "Annex"}],
                 "managers": {"Office": {"className": "TicketOffice", "dataAccessController": {\(controller)}}}}
                """
            return try site.write(text.utf8, as: name)
        }
        former = try manifest(#""className": "TicketStore""#, "former.json")
        renamed = try manifest(#""className": "TicketArchive", "was": "TicketStore""#, "renamed.json")
        bare = try manifest(#""className": "TicketArchive""#, "bare.json")
    }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        let folder = try site.folder("rename-\(trial)")
        defer { site.remove(folder) }
        var count = 0, manifest = former, findings: [String] = []
        for number in 0..<Self.renames {
            let host = try host(manifest, in: folder)
            findings += counted(&count, by: host, "after kill \(number)")
            let next = manifest == former ? renamed : former, ended = DispatchGroup()
            ended.enter()
            Thread.detachNewThread {
                // It may be answered or not, and either is right.
                _ = host.ask(["request": "apply", "manifest": ["path": next]])
                ended.leave()
            }
            usleep(.random(in: 0...60_000, using: &numbers))
            host.process.kill()
            ended.wait()
            // Whoever starts the next host may have either manifest in mind.
            if numbers.once(in: 2) { manifest = next }
        }
        for last in [renamed, bare] {
            let host = try host(last, in: folder)
            findings += counted(&count, by: host, "at last")
            host.process.kill()
        }
        return Trial(outcome: "killed", findings: findings)
    }

    /// Starts a host with the contents of a manifest, always at the same path, to which the data folder belongs.
    private func host(_ manifest: String, in folder: String) throws -> RunningHost {
        let path = folder + "/manifest.json"
        try Data(contentsOf: URL(filePath: manifest)).write(to: URL(filePath: path))
        return try RunningHost(path, ["--plugin-path", BuiltProducts.folder, "--data", folder + "/data"], in: folder)
    }

    /// Counts once, which the host has to do from the last count on.
    private func counted(_ count: inout Int, by host: RunningHost, _ time: String) -> [String] {
        guard host.isUp() else { return ["\(time) the host does not come up: \(host.process.said)"] }
        count += 1
        let answer = host.call("Office", "pass", "0")
        let ticket = answer.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        guard ticket?["count"] as? Int == count else {
            return ["\(time) the count is not \(count): \(answer ?? "no answer"); \(host.process.said)"]
        }
        return []
    }
}
