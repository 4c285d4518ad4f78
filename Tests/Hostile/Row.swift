import Foundation

/// What became of one library.
struct Row: Codable, Sendable {
    var name, what: String
    /// What the host said, a line each; at last how its process ended, if not by stopping.
    var host: [String]
    /// Whether the host came to its end.
    var hostSurvived: Bool
    /// Whether a host cannot help ending with it.
    var endsHost: Bool
    /// The requirements that it does not keep to, and why.
    var findings: [Finding]
    /// Why it is not here, and nothing was tried.
    var leftOut: String?

    struct Finding: Codable, Sendable {
        var id: String
        var details: [String]
    }
}

extension Row {
    init(_ library: HostileLibrary, leftOut reason: String) {
        self.init(
            name: library.name, what: library.what, host: [], hostSurvived: true, endsHost: library.endsHost,
            findings: [], leftOut: reason)
    }

    init(_ library: HostileLibrary, at path: String, in folder: String) {
        (name, what, endsHost) = (library.name, library.what, library.endsHost)
        let program = Self.built + "/hostile"
        // What does not end by itself is given little time, and all else the time of a busy machine.
        let hangs = HostileLibrary.hangs(at: path)
        let run = Child.run(
            program, [HostRun.command, path] + (library.sha256.map { [$0] } ?? []), limit: hangs ? 20 : 240)
        var lines = run.output.split(separator: "\n").map(String.init)
        hostSurvived = run.ending == .exit(0) && lines.last == "stopped"
        if hostSurvived {
            lines.removeLast()
        } else {
            lines += run.errors.split(separator: "\n").suffix(1).map { "last line: \($0)" }
            lines.append("its process \(run.ending.text)")
        }
        host = lines.map { Self.plain($0, in: folder) }
        let validation = Child.run(
            Self.built + "/backplane",
            ["validate", path, "--json", "--timeout", hangs ? "4" : "60", "--load-folder", folder + "/validate"],
            limit: hangs ? 120 : 240)
        let report = try? JSONDecoder().decode(Report.self, from: Data(validation.output.utf8))
        findings =
            report?.requirements.filter { $0.result == "failed" }.map { row in
                Finding(id: row.id, details: row.details.map { Self.plain($0, in: folder) })
            } ?? [Finding(id: "-", details: ["validate \(validation.ending.text): \(validation.errors)"])]
    }

    private static let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .path

    private struct Report: Decodable {
        struct Requirement: Decodable { var id, result: String, details: [String] }
        var requirements: [Requirement]
    }

    /// Without what differs from machine to machine, and from run to run.
    private static func plain(_ text: String, in folder: String) -> String {
        let text = text.replacing(folder, with: "…").replacing(/host-[0-9A-Za-z-]+\//, with: "host/")
            .replacing(/[0-9a-f]{64}/) { $0.output.allSatisfy { $0 == "0" } ? "000…" : "(its own)" }
            .replacing(/\d+\.\d s later/, with: "# s later").replacing(/Worker\d+/, with: "Worker#")
            .replacing(/x{100,}/) { "x… (\($0.output.count) times)" }
            .replacing(/0x[0-9A-F]{5,}/, with: "0x#").replacing(/\d{4,}/, with: "#").replacing(
                /segment \d+|section \d+|table of \d+ \w+/
            ) { $0.output.replacing(/\d+/, with: "#") }
        return text.count > 1_200 ? text.prefix(1_200) + "…" : text
    }
}

extension Child.Ending {
    fileprivate var text: String {
        switch self {
        case .exit(let code): "ended with exit code \(code)"
        case .signal(let number): "ended by signal \(number)"
        case .overdue: "hung"
        }
    }
}
