import Backplane
import BackplaneHost
import Foundation
import Glibc
import Synchronization

/// Builds libraries that do wrong, one after the other, and shows what a host says of each and what `backplane
/// validate` finds.
@main
enum Hostile {
    private static let usage = """
        hostile [TEXT] [--json]     every hostile library, or those with TEXT in their names: what it does, what a host says, what
                                    `backplane validate` finds
        """

    static func main() async throws {
        var words = Array(CommandLine.arguments.dropFirst())
        if words.first == HostRun.command, words.count > 1 {
            return await HostRun.run(words[1], sha256: words.count > 2 ? words[2] : nil)
        }
        let json = words.contains("--json")
        words.removeAll { $0 == "--json" }
        guard words.count < 2, words.first?.hasPrefix("-") != true else {
            print(usage)
            exit(words.first == "--help" ? 0 : 64)
        }
        var template = Array((NSTemporaryDirectory() + "/hostile-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("there is no temporary folder") }
        let folder = URL(filePath: String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
            .resolvingSymlinksInPath().path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let rows = try rows(of: HostileLibrary.all.filter { words.isEmpty || $0.name.contains(words[0]) }, in: folder)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(rows), as: UTF8.self))
        } else {
            show(rows)
        }
    }

    /// What was found, by the place of the library; a few threads fill it.
    private final class Findings: Sendable {
        let next = Mutex(0)
        let rows = Mutex<[Int: Row]>([:])
        let failure = Mutex<(any Error)?>(nil)
    }

    /// A few at a time: most of them wait.
    private static func rows(of libraries: [HostileLibrary], in folder: String) throws -> [Row] {
        let builder = try LibraryBuilder(folder), findings = Findings(), ended = DispatchGroup()
        // First, because a host names what lies beside a missing library.
        for library in libraries where library.isOther { try builder.make(library) }
        for _ in 0..<10 {
            ended.enter()
            Thread.detachNewThread {
                while true {
                    let index = findings.next.withLock { next in
                        defer { next += 1 }
                        return next
                    }
                    guard index < libraries.count else { return ended.leave() }
                    do {
                        if !libraries[index].isOther { try builder.make(libraries[index]) }
                        let row = Row(libraries[index], at: builder.path(of: libraries[index]), in: folder)
                        findings.rows.withLock { $0[index] = row }
                    } catch let error as LibraryBuilder.LeftOut {
                        findings.rows.withLock { $0[index] = Row(libraries[index], leftOut: error.reason) }
                    } catch {
                        findings.failure.withLock { $0 = error }
                    }
                }
            }
        }
        ended.wait()
        if let failure = findings.failure.withLock({ $0 }) { throw failure }
        return findings.rows.withLock { rows in libraries.indices.compactMap { rows[$0] } }
    }

    private static func show(_ rows: [Row]) {
        let table =
            [["NAME", "WHAT IT DOES", "HOST SAYS", "VALIDATE FINDS"]]
            + rows.map { row in
                [
                    row.name, row.what, shortened(row.summary, 90),
                    shortened(row.findings.map(\.text).joined(separator: "; "), 90),
                ]
            }
        let widths = (0..<3).map { column in table.map { $0[column].count }.max() ?? 0 }
        for line in table {
            print(
                line.indices.map {
                    $0 < 3 ? line[$0] + String(repeating: " ", count: widths[$0] - line[$0].count) : line[$0]
                }.joined(separator: "  "))
        }
        let ended = rows.filter { !$0.hostSurvived }, leftOut = rows.filter { $0.leftOut != nil }
        if !leftOut.isEmpty { print("\nleft out: \(leftOut.map(\.name).joined(separator: ", "))") }
        print(
            "\n\(rows.count - leftOut.count) libraries; \(rows.count { !$0.findings.isEmpty }) with findings; \(ended.count) ended the host: \(ended.map(\.name).joined(separator: ", "))"
        )
    }

    private static func shortened(_ text: String, _ limit: Int) -> String {
        text.count > limit ? text.prefix(limit - 1) + "…" : text
    }
}

extension Row {
    /// Of what the host said the innermost reason, where it gave one.
    fileprivate var summary: String {
        if let leftOut { return "left out, since it cannot be made here: \(leftOut)" }
        guard hostSurvived, let reason = host.last, reason.hasPrefix("    ") else {
            return host.joined(separator: "; ")
        }
        return String(reason.drop { $0 == " " })
    }
}

extension Row.Finding {
    fileprivate var text: String { "\(id) \(details.first ?? "")" }
}

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

/// What a host does with a library: loads it, starts its manager, calls it, and stops.
enum HostRun {
    /// The hidden command that a child of this program runs.
    static let command = "host"

    /// The methods that are to be found without an answer at their deadline.
    private static let overdue = [
        "method-late", "method-never", "method-loops", "method-uncancelled", "method-works-on", "stream-waits",
        "stream-never",
    ]

    /// Runs a host with the library in this process, and prints what it says, a line each.
    static func run(_ library: String, sha256: String?) async {
        let folder = library + ".host", hangs = HostileLibrary.hangs(at: library)
        mkdir(folder, 0o700)
        let digest = sha256.map { #", "sha256": "\#($0)""# } ?? ""
        let manifest =
            #"{"manifestVersion": 1, "plugins": [{"library": "\#(library)"\#(digest)}], "managers": {"Worker": {"className": "Worker"}}}"#
        write(Array(manifest.utf8), to: folder + "/backplane.json")
        var options = HostOptions(
            loadFolder: folder + "/loads", dataFolder: folder + "/data", startLimit: .seconds(hangs ? 3 : 60),
            stopLimit: .seconds(hangs ? 1 : 60), occupationLimit: nil)
        options.loadLimit = .seconds(hangs ? 3 : 60)
        options.namesCrashes = true
        let host = PluginHost(manifest: ManifestDocument(contentsOf: folder + "/backplane.json"), options: options)
        // First without a deadline, so that what it takes to start is not held against the call.
        if await says(host, "rest", within: nil) {
            let isOverdue = overdue.contains { library.hasSuffix("/lib\($0).so") }
            _ = await says(host, "work", within: .seconds(isOverdue ? 1 : 15))
            _ = await says(host, "rest", within: .seconds(20))
        }
        await host.stop()
        print("stopped")
        fflush(nil)
        // A library may keep a lock of the loader's for ever, which an orderly exit takes.
        _exit(0)
    }

    /// - Returns: whether it answered.
    private static func says(_ host: PluginHost, _ method: String, within limit: Duration?) async -> Bool {
        let call = limit.map { host.begin(within: $0) } ?? host.begin()
        do {
            let answer = try await host.call("Worker", method, Array("null".utf8), call)
            print("\(method): \(String(decoding: answer, as: UTF8.self))")
            fflush(nil)
            return true
        } catch  where error.code == .callWrongKind {
            return await streams(host, method, call, for: limit ?? .seconds(1))
        } catch {
            print("\(method): \(error.lines.joined(separator: "\n    "))")
            fflush(nil)
            return false
        }
    }
}

extension HostRun {
    /// Reads a stream for a time at most.
    ///
    /// - Returns: whether it ended without an error.
    private static func streams(
        _ host: PluginHost, _ method: String, _ call: Call, for time: Duration
    ) async -> Bool {
        let reading = Task { () async -> BackplaneError? in
            do throws(BackplaneError) {
                for try await element in try await host.stream("Worker", method, Array("null".utf8), call) {
                    print("\(method), an element: \(String(decoding: element, as: UTF8.self))")
                    fflush(nil)
                }
                return nil
            } catch {
                return error
            }
        }
        let limit = Task {
            try await Task.sleep(for: time)
            reading.cancel()
        }
        defer {
            limit.cancel()
            fflush(nil)
        }
        let error = await reading.value
        print("\(method): \(error?.lines.joined(separator: "\n    ") ?? "its end")")
        return error == nil
    }
}

extension BackplaneError {
    /// It, and under it what it came from; nothing of what it quotes begins a line of its own.
    fileprivate var lines: [String] {
        ["\(code): \(message.debugDescription.dropFirst().dropLast())"] + causes.flatMap { $0.lines.map { "  " + $0 } }
    }
}

/// A process of its own, which is killed when its time is up.
///
/// Not by `Process`, which notices an end by a socket that closes: processes that other threads start at the same time
/// inherit it.
enum Child {
    enum Ending: Sendable, Equatable {
        case exit(Int32), signal(Int32), overdue
    }
    struct Outcome: Sendable {
        let ending: Ending
        let output, errors: String
    }

    /// - Parameter limit: in seconds.
    static func run(_ program: String, _ arguments: [String], limit: Double) -> Outcome {
        let files = ["out", "err"].map { NSTemporaryDirectory() + "/hostile-\(UUID().uuidString).\($0)" }
        defer { for file in files { unlink(file) } }
        guard let child = start([program] + arguments, files) else {
            return Outcome(ending: .exit(127), output: "", errors: "\(program) cannot be run")
        }
        let hasEnded = DispatchSemaphore(value: 0), isOverdue = Overdue()
        Thread.detachNewThread {
            guard hasEnded.wait(timeout: .now() + limit) == .timedOut else { return }
            isOverdue.value.withLock { $0 = true }
            kill(child, SIGKILL)
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1 && errno == EINTR {}
        hasEnded.signal()
        let number = status & 0x7F,
            ending: Ending =
                isOverdue.value.withLock { $0 } ? .overdue : number == 0 ? .exit(status >> 8 & 0xFF) : .signal(number)
        return Outcome(ending: ending, output: text(files[0]), errors: text(files[1]))
    }

    private final class Overdue: Sendable {
        let value = Mutex(false)
    }

    /// With nothing to read, and files for what it prints.
    private static func start(_ words: [String], _ files: [String]) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        for (number, file) in files.enumerated() {
            posix_spawn_file_actions_addopen(&actions, Int32(number + 1), file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }.map {
            "\($0.key)=\($0.value)"
        }
        var arguments = words.map { strdup($0) } + [nil], variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child = pid_t()
        return posix_spawn(&child, words[0], &actions, nil, &arguments, &variables) == 0 ? child : nil
    }

    private static func text(_ path: String) -> String { String(decoding: contents(of: path), as: UTF8.self) }
}

func copy(_ source: String, to target: String) {
    write(contents(of: source), to: target)
}

func contents(of path: String) -> [UInt8] {
    FileManager.default.contents(atPath: path).map { Array($0) } ?? []
}

func write(_ bytes: [UInt8], to path: String) {
    _ = FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o755])
}
