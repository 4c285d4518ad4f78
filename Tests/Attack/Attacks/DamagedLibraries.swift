import BackplaneHost
import Foundation
import Synchronization
import TestFixtures

/// Libraries that were sound before somebody did something to their bytes, given to `check`, to `inspect`, and to a
/// running host for a preview of a swap, or for a swap.
struct DamagedLibraries: Attack {
    static let name = "libraries", what = "libraries with changed bytes, checked, inspected, previewed and swapped",
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
        let deeds = (0..<Int.random(in: 1...3, using: &numbers)).map { _ in Self.damage(&bytes, &numbers) }
        let path = try site.write(bytes, as: "lib\(trial).so"),
            deed = "\(library.name) with \(deeds.joined(separator: ", "))"
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

extension DamagedLibraries {
    /// Does something to the bytes of a library, and says what.
    static func damage(_ bytes: inout [UInt8], _ numbers: inout SeededNumbers) -> String {
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0:
            let length = Int.random(in: 0..<bytes.count, using: &numbers)
            bytes.removeSubrange(length...)
            return "its first \(length) bytes alone"
        case 1:
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            let end = min(bytes.count, place + Int.random(in: 1...4_096, using: &numbers))
            for index in place..<end { bytes[index] = 0 }
            return "zeros from \(place) to \(end)"
        case 2:
            return "other bits at " + flip(&bytes, in: 0..<min(bytes.count, 4_096), &numbers)
        case 3:
            return "other bits at " + flip(&bytes, in: bytes.indices, &numbers)
        default:
            // In a table that the loader reads, or the host: chosen by the type of its section.
            let tables = Sections(bytes)
            guard let table = tables.ranges.randomElement(using: &numbers), table.range.count >= 8 else {
                return "other bits at " + flip(&bytes, in: bytes.indices, &numbers)
            }
            if numbers.once(in: 2) {
                return "other bits in section \(table.number) at " + flip(&bytes, in: table.range, &numbers)
            }
            let place = table.range.lowerBound + Int.random(in: 0...(table.range.count - 8) / 8, using: &numbers) * 8
            let word = numbers.pick([
                0, 1, .max, 1 << 63, UInt64(bytes.count), 0x7FFF_FFFF, .random(in: 0...(.max), using: &numbers),
            ])
            for byte in 0..<8 where place + byte < bytes.count {
                bytes[place + byte] = UInt8(truncatingIfNeeded: word >> (8 * byte))
            }
            return "the word \(word) in section \(table.number) at \(place)"
        }
    }

    private static func flip(_ bytes: inout [UInt8], in range: Range<Int>, _ numbers: inout SeededNumbers) -> String {
        guard !range.isEmpty else { return "no place" }
        return (0..<Int.random(in: 1...6, using: &numbers)).map { _ in
            let place = Int.random(in: range, using: &numbers)
            bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
            return "\(place)"
        }.joined(separator: " ")
    }

    /// The sections of a library with which the loader works, read as they stand there.
    private struct Sections {
        var ranges: [(number: Int, range: Range<Int>)] = []

        init(_ bytes: [UInt8]) {
            func number(_ place: Int, _ size: Int) -> Int {
                guard place >= 0, place + size <= bytes.count else { return 0 }
                return (0..<size).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } & 0x7FFF_FFFF
            }
            // The table of sections itself, that of segments, and of each section its bytes.
            let (table, count) = (number(40, 8), number(60, 2))
            if 64 + 56 * 8 <= bytes.count { ranges.append((-1, 64..<64 + 56 * 8)) }
            for section in 0..<min(count, 100) {
                let entry = table + section * 64
                // Symbols, texts, relocations, dynamic entries, notes, initialisers, and what is versioned or hashed.
                let kind = number(entry + 4, 4),
                    isRead = [2, 3, 4, 6, 7, 11, 14, 15].contains(kind) || kind >= 0x6FFF_FFF0
                let (start, size) = (number(entry + 24, 8), number(entry + 32, 8))
                if entry + 64 <= bytes.count { ranges.append((-2, entry..<entry + 64)) }
                if isRead, size > 0, start + size <= bytes.count { ranges.append((section, start..<start + size)) }
            }
        }
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
