import Foundation
import TestGenerators

/// Stores of 1,000 records with one page overwritten. All records that have no byte on it have to be there.
struct OverwrittenPages: Attack {
    static let name = "pages", what = "stores of 1,000 records with one page overwritten", count = 100, share = 15
    private static let records = 1_000, page = 4_096

    private let site: Site
    private let manifest: String
    /// The path of the store in the data folder, and its bytes.
    private let store: String
    private let bytes: [UInt8]

    init(at site: Site) throws {
        self.site = site
        manifest = try site.numberStore()
        let data = site.path + "/data"
        let process = try HostProcess(
            [
                "call", manifest, "NumberStore", "fill", "\(Self.records)", "--data", data, "--load-folder",
                site.path + "/loads",
            ],
            in: site.path)
        guard process.wait() == .exit(0) else { throw NotPossible("the store cannot be filled: \(process.said)") }
        let files = try FileManager.default.subpathsOfDirectory(atPath: data)
        guard let store = files.first(where: { $0.hasSuffix("/store.sqlite") }) else {
            throw NotPossible("this host keeps its records in no file")
        }
        self.store = store
        bytes = Array(try Data(contentsOf: URL(filePath: "\(data)/\(store)")))
    }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        let number = Int.random(in: 0..<bytes.count / Self.page, using: &numbers)
        let range = number * Self.page..<(number + 1) * Self.page
        var damaged = bytes
        let deed: String
        switch Int.random(in: 0..<3, using: &numbers) {
        case 0:
            for index in range { damaged[index] = 0 }
            deed = "zeros"
        case 1:
            for index in range { damaged[index] = UInt8.random(in: 0...255, using: &numbers) }
            deed = "random bytes"
        default:
            let other = Int.random(in: 0..<bytes.count / Self.page, using: &numbers)
            damaged.replaceSubrange(range, with: bytes[other * Self.page..<(other + 1) * Self.page])
            deed = "page \(other + 1)"
        }
        let data = try site.folder("data-\(trial)")
        defer { site.remove(data) }
        let folder = URL(filePath: "\(data)/\(store)").deletingLastPathComponent().path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data(damaged).write(to: URL(filePath: "\(data)/\(store)"))
        chmod("\(data)/\(store)", 0o600)
        // As a check of the open store leaves it that has found damage: the next opening reads the whole file.
        try Data("found".utf8).write(to: URL(filePath: "\(data)/\(store).damage"))

        let subject = "page \(number + 1) of \(bytes.count / Self.page) overwritten by \(deed)"
        let process = try HostProcess(
            ["call", manifest, "NumberStore", "list", "--data", data, "--load-folder", site.path + "/loads"],
            in: site.path)
        var trial = Trial(process, subject, input: bytes.count, usual: 100 << 20)
        guard process.ending == .exit(0) else {
            if process.ending == .exit(1) { trial.findings.append("\(subject): it is not salvaged: \(process.said)") }
            return trial
        }
        let ids = (try? JSONDecoder().decode([String].self, from: Data(process.output.utf8))) ?? []
        let lost = Set((0..<Self.records).map(Kills.id)).subtracting(ids).subtracting(Self.ids(in: bytes[range]))
        if !lost.isEmpty {
            trial.findings.append(
                "\(subject): \(lost.count) records are lost that do not lie on it: \(lost.sorted().prefix(8).joined(separator: ", "))"
            )
        }
        trial.outcome = process.errors.isEmpty ? "read" : "salvaged"
        return trial
    }

    /// The records that have bytes among these.
    private static func ids(in bytes: ArraySlice<UInt8>) -> Set<String> {
        Set(
            bytes.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.filter { $0.count >= 8 }.flatMap {
                run in
                // An id may stand right before a value's, and then both are one run of digits.
                [String(decoding: run.prefix(8), as: UTF8.self), String(decoding: run.suffix(8), as: UTF8.self)]
            })
    }
}
