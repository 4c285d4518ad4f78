import BackplaneHost
import Foundation
import Synchronization
import TestFixtures

/// Libraries of which only a part was written, given to `check`, to `inspect`, and to a running host for a preview of a
/// swap, or for a swap.
struct DamagedLibraries: Attack {
    static let name = "libraries", what = "incomplete libraries, checked, inspected, previewed and swapped",
        count = 2_000,
        share = 30

    private let site: Site
    private let sound: [Library]
    private let hosts: HostPool
    /// Hosts that are told to swap. Each is used once, since the damaged code stays in it.
    private let swapped: HostPool
    /// The memory that each look takes at a sound library.
    private let usual: Int

    struct Library: Sendable {
        var name: String
        var bytes: [UInt8]
    }

    init(at site: Site) throws {
        self.site = site
        sound = try ["Clock", "TurnstileInC1", "_Challenge", "Almanac"].map { name in
            let file = URL(filePath: "\(BuiltProducts.folder)/lib\(name).so")
            return Library(name: name, bytes: Array(try Data(contentsOf: file)))
        }
        let manifest = """
            {"manifestVersion": 1, "plugins": [{"library": "Clock"}, {"library": "_Challenge"}, {"library": "Almanac"}],
             "managers": {"Clock": {"className": "ClockManager"}, "Trials": {"className": "TrialManager"}}}
            """
        let path = try site.write(manifest.utf8, as: "host.json"), options = ["--plugin-path", BuiltProducts.folder]
        hosts = HostPool(path, options, at: site, lives: 40)
        swapped = HostPool(path, options, at: site, lives: 1, as: "s")
        let library = try site.write(sound[3].bytes, as: "libSound.so")
        var most = 0
        for look in [["check", try Self.manifest(of: library, at: site, "sound")], ["inspect", library]] {
            let process = try HostProcess(look + ["--load-folder", site.path + "/loads"], in: site.path)
            guard process.wait() == .exit(0) else { throw NotPossible("a sound library is refused: \(process.said)") }
            most = max(most, process.peak)
        }
        usual = most
    }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        let library = numbers.pick(sound)
        var bytes = library.bytes
        let length = Int.random(in: 0..<bytes.count, using: &numbers), isSized = numbers.once(in: 2)
        // A linker may have given the file its size already.
        bytes.replaceSubrange(length..., with: [UInt8](repeating: 0, count: isSized ? bytes.count - length : 0))
        let path = try site.write(bytes, as: "lib\(trial).so"),
            deed = "\(library.name) with its first \(length) bytes\(isSized ? ", and zeros" : " alone")"
        defer { site.remove(path) }
        let look = Int.random(in: 0..<3, using: &numbers)
        if look == 2, numbers.once(in: 3) {
            return try swapped.use { try Trial(swapping: path, of: deed, bytes.count, in: $0) }
        } else if look == 2 {
            return try hosts.use { try Trial(previewing: path, of: deed, bytes.count, in: $0) }
        }
        let manifest = try Self.manifest(of: path, at: site, "\(trial)")
        defer { site.remove(manifest) }
        let words = look == 0 ? ["check", manifest] : ["inspect", path]
        let process = try HostProcess(words + ["--load-folder", site.path + "/loads"], in: site.path)
        return Trial(process, "\(words[0]) of \(deed)", input: bytes.count, usual: usual)
    }

    func end() throws -> Trial? { hosts.end() ?? swapped.end() }

    private static func manifest(of path: String, at site: Site, _ name: String) throws -> String {
        let text = """
            {"manifestVersion": 1, "plugins": [{"library": "\(path)"}], "managers": {}}
            """
        return try site.write(text.utf8, as: "manifest-\(name).json")
    }
}

extension Trial {
    /// Asks a running host what a swap to a library would do.
    fileprivate init(previewing path: String, of deed: String, _ size: Int, in host: RunningHost) throws {
        try self.init(["swap", path, "--dry-run"], path, "preview of \(deed)", size, in: host, isRun: false)
    }

    /// Has a running host swap to a library, and stops the host, in whichever code it is then.
    fileprivate init(swapping path: String, of deed: String, _ size: Int, in host: RunningHost) throws {
        let subject = "swap to \(deed)"
        try self.init(["swap", path], path, subject, size, in: host, isRun: true)
        guard host.process.ending == nil else { return }
        host.process.signal(SIGTERM)
        switch host.process.wait() {
        case .exit(0): break
        case .signal where host.process.died(inCodeOf: path): outcome = "died of the plugin's code"
        case let ending:
            findings.append("\(subject): the host that was then told to stop \(ending)\(host.process.lastWords)")
        }
    }

    private init(
        _ words: [String], _ path: String, _ subject: String, _ size: Int, in host: RunningHost, isRun: Bool
    ) throws {
        _ = host.process.hasEnded()
        let before = host.process.peak, folder = URL(filePath: path).deletingLastPathComponent().path
        let process = try HostProcess(words + ["--socket", host.socket], in: folder)
        self.init(process, subject, input: size, usual: .max >> 1)
        judge(host.process, subject, input: size, before: before, running: isRun ? path : nil)
    }
}
