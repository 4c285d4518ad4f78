import BackplaneDocuments
import BackplaneHost
import Foundation
import TestFixtures

/// Manifests that were sound before somebody did something to them, and some that are large, given to the commands that
/// read one, and to a running host.
struct HostileManifests: Attack {
    static let name = "manifests", what = "manifests that were tampered with, read, converted and applied",
        count = 3_000,
        share = 20

    private let site: Site
    private let sound: [ManifestValue]
    private let hosts: HostPool
    private let usual: Int

    init(at site: Site) throws {
        self.site = site
        let folder = Site.package + "/manifests"
        sound = try ["almanac.json", "bookshelf.json", "bookshelf-both.json"].map { name in
            try ManifestValue(parsing: Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
        }
        let options = ["--plugin-path", BuiltProducts.folder]
        hosts = HostPool("\(folder)/almanac.json", options, at: site, lives: 60)
        let process = try HostProcess(
            ["check", "\(folder)/bookshelf-both.json", "--load-folder", site.path + "/loads"] + options, in: site.path)
        guard process.wait() == .exit(0) else { throw NotPossible("a sound manifest is refused: \(process.said)") }
        usual = process.peak
    }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        let (bytes, deed) = numbers.once(in: 40) ? Self.large(&numbers) : tampered(&numbers)
        let path = try site.write(bytes, as: "m\(trial).json")
        defer { site.remove(path) }
        let own = [
            "--plugin-path", BuiltProducts.folder, "--load-folder", site.path + "/loads", "--data", site.path + "/data",
        ]
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0:
            return try hosts.use { host in
                _ = host.process.hasEnded()
                let before = host.process.peak
                let process = try HostProcess(["apply", path, "--socket", host.socket], in: site.path)
                var trial = Trial(process, "apply of \(deed)", input: bytes.count, usual: .max >> 1)
                trial.judge(host.process, "apply of \(deed)", input: bytes.count, before: before)
                return trial
            }
        case 1: return try look(["convert", path, "--to", numbers.pick(["json", "xml", "binary"])], deed, bytes.count)
        case 2: return try look(["graph", path] + own, deed, bytes.count)
        default: return try look(["check", path] + own, deed, bytes.count)
        }
    }

    func end() throws -> Trial? { hosts.end() }

    private func look(_ words: [String], _ deed: String, _ size: Int) throws -> Trial {
        Trial(try HostProcess(words, in: site.path), "\(words[0]) of \(deed)", input: size, usual: usual)
    }

    private func tampered(_ numbers: inout SeededNumbers) -> (bytes: Data, deed: String) {
        let seed = numbers.next(), format = numbers.pick(ManifestFormat.allCases)
        return (
            MutatedManifest(seed: seed, format: format, of: sound).bytes, "a manifest of \(format) with seed \(seed)"
        )
    }

    /// Manifests whose size is all that is wrong, in one way each.
    private static func large(_ numbers: inout SeededNumbers) -> (bytes: Data, deed: String) {
        let size = Int.random(in: 1_000...100_000, using: &numbers)
        func managers(_ members: String) -> String {
            #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {\#(members)}}"#
        }
        func configuration(_ value: String) -> String {
            managers(#""C": {"className": "ClockManager", "configuration": {"a": \#(value)}}"#)
        }
        let (text, deed) =
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: (configuration("[" + String(repeating: "1,", count: size * 5) + "1]"), "\(size * 5) values")
            case 1:
                (
                    configuration("{" + (0..<size).map { "\"k\($0)\": 1" }.joined(separator: ",") + "}"),
                    "\(size) keys"
                )
            case 2: (String(repeating: "[", count: size), "\(size) brackets")
            case 3:
                (
                    configuration(
                        String(repeating: #"{"a":"#, count: size) + "1" + String(repeating: "}", count: size)),
                    "\(size) levels"
                )
            case 4:
                (
                    configuration("\"" + String(repeating: "é", count: size * 10) + "\""),
                    "a text of \(size * 10) letters"
                )
            case 5:
                (
                    managers((0..<size / 10).map { #""M\#($0)": {"className": "Nobody"}"# }.joined(separator: ",")),
                    "\(size / 10) managers"
                )
            case 6:
                (
                    "<!DOCTYPE plist [" + String(repeating: "<!ENTITY a \"&b;\">", count: size / 10)
                        + "]><plist>&a;</plist>", "\(size / 10) entities"
                )
            default:
                (
                    managers(#""C": {"className": "\#(String(repeating: "C", count: size * 10))"}"#),
                    "a class name of \(size * 10) letters"
                )
            }
        return (Data(text.utf8), "a manifest with \(deed)")
    }
}
