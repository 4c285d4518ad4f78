package import Backplane
import BackplaneHost
import Foundation

/// The check of a library against all rules, with a separate process for each part of the rules.
package struct Validation: Sendable {
    package let path: String
    /// The folder in which the processes may leave files.
    package let folder: String
    /// The time limit for each step, call and answer.
    package let limit: Duration
    /// The manifest that configures the components, or `nil` for empty configurations.
    package let manifest: String?

    package init(path: String, folder: String, limit: Duration, manifest: String? = nil) {
        (self.path, self.folder, self.limit, self.manifest) = (path, folder, limit, manifest)
    }

    package func report() async -> ValidationReport {
        var verdicts: [String: Verdict] = [:]
        for part in Rule.Part.allCases {
            var left = Rule.all.filter { $0.part == part }
            // If the library ends the process, another process checks the remaining rules.
            while !left.isEmpty {
                for rule in left { verdicts[rule.id] = rule.verdict(after: verdicts) }
                let asked = left.filter { verdicts[$0.id] == nil }
                if !asked.isEmpty { verdicts.merge(await ValidationChild.verdicts(of: asked, self)) { _, new in new } }
                left = asked.filter { verdicts[$0.id] == nil }
            }
        }
        return ValidationReport(path, verdicts)
    }
}

/// The findings of `validate`, in the format of `--json`.
package struct ValidationReport: Encodable, Sendable {
    var path: String
    /// A Boolean value that indicates whether no requirement failed; some may have been skipped.
    package var isValid: Bool
    var requirements: [Row]
    /// The reason why the library could not be examined.
    var problem: BackplaneError?

    struct Row: Encodable, Sendable {
        var id, requirement: String
        var result: Verdict.Result
        var details: [String]
    }

    init(_ path: String, _ verdicts: [String: Verdict]) {
        self.path = path
        isValid = !verdicts.values.contains { $0.result == .failed }
        requirements = Rule.all.map { rule in
            let verdict = verdicts[rule.id] ?? .skipped("not checked")
            return Row(id: rule.id, requirement: rule.title, result: verdict.result, details: verdict.details)
        }
    }

    /// Creates the report on a library that was not found, or that could not be copied to a load folder.
    package init(_ path: String, _ problem: BackplaneError) {
        (self.path, self.problem, isValid, requirements) = (path, problem, false, [])
    }

    package func printTable() {
        Output.line("path  \(path.printable)\n")
        var rows: [[Span]] = []
        for row in requirements {
            let style: Span.Style = row.result == .passed ? .good : row.result == .failed ? .bad : .faint
            rows.append([Span(row.id), Span(row.result.rawValue, style), Span(row.requirement)])
            rows += row.details.map { [Span(""), Span(""), Span("  " + $0.printable)] }
        }
        Output.table(Table(["ID", "RESULT", "REQUIREMENT"], rows))
        let results = [Verdict.Result.passed, .failed, .notApplicable, .skipped].map { result in
            (result.rawValue, requirements.count { $0.result == result })
        }
        Output.line("\n" + results.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
    }
}

/// The child process in which rules are checked, so that a crash of the library does not end `validate`.
package enum ValidationChild {
    /// The hidden command that the child runs.
    package static let command = "validate-child"
    private static let closed: Int32 = 113

    /// A line of the child's output: the next step of a check, or its verdict.
    private struct Line: Codable {
        var rule: String
        var step: String?
        var verdict: Verdict?
    }

    /// Checks rules of one part in a child process, and returns the verdicts on one or more of the first rules.
    ///
    /// If the child ends during a check, that rule has failed and the later rules have no verdict.
    static func verdicts(of rules: [Rule], _ validation: Validation) async -> [String: Verdict] {
        let part = rules[0].part.rawValue, limit = validation.limit
        let run: ChildRun
        do throws(BackplaneError) {
            run = try await ChildRun(
                [
                    command, part, rules.map(\.id).joined(separator: ","), "--load-folder",
                    "\(validation.folder)/\(part)",
                ] + (validation.manifest.map { ["--manifest=\($0)"] } ?? []) + ["--", validation.path], limit: limit)
        } catch {
            return Dictionary(uniqueKeysWithValues: rules.map { ($0.id, .failed(error.findings)) })
        }
        let lines = run.output.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(Line.self, from: $0)
        }
        var verdicts: [String: Verdict] = [:]
        for line in lines { verdicts[line.rule] = line.verdict ?? verdicts[line.rule] }
        guard let failed = rules.first(where: { verdicts[$0.id] == nil }) else { return verdicts }
        let doing = lines.last.flatMap { $0.rule == failed.id ? $0.step : nil }.map { ", while \($0)" } ?? ""
        let reason =
            switch run.ending {
            case .saidAll: "its output could not be parsed\(doing)"
            case .overdue: "it did not finish within \((limit / .seconds(1)).formatted()) s\(doing)"
            case .exit(closed):
                "it closed all files of its process, including those that it did not open\(doing)"
            case .signal(let number):
                "it ended its process with signal \(number) (\(String(cString: strsignal(number))))\(doing)"
            case .exit(let status): "it ended its process with exit code \(status)\(doing)"
            }
        let printed = run.errors.split(separator: "\n").filter { !isFrame($0) }.suffix(8).map { "  it printed: \($0)" }
        verdicts[failed.id] = .failed([reason] + printed)
        return verdicts
    }

    /// Returns whether a line belongs to a stack trace of the Swift runtime.
    ///
    /// Such a line is "12   libHello.so   0x00007f70f45795e0 <unavailable> + 25".
    private static func isFrame(_ line: Substring) -> Bool {
        line.wholeMatch(of: /\d+ +.*0x[0-9a-f]{16} .*/) != nil || line == "Current stack trace:"
    }

    /// Runs the child; exits instead of returning, so that no more code of the library runs.
    ///
    /// - Parameters:
    ///   - rules: The ids of the rules to check, separated by commas.
    ///   - manifest: The path of the manifest that configures the components.
    package static func run(
        _ part: Rule.Part, _ rules: String, _ path: String, loadFolder: String?, manifest: String?
    ) async -> Never {
        ChildLifetime.endWithParent()
        // Output of the library must not mix with the answer.
        let output = ChildLifetime.moveHigh(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY)
        dup2(nothing, STDOUT_FILENO)
        if part == .components { await warmUp() }
        let ids = rules.split(separator: ",").map(String.init), rules = Rule.all.filter { ids.contains($0.id) }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
            // The checks run on another thread, because components on the main actor need the main thread. Threads of
            // the library inherit the name of the thread that starts them.
            let begins = HostThread.tryStart("backplane") {
                check(rules, path, loadFolder, manifest, output)
                guard fcntl(output, F_GETFD) >= 0 else { _exit(closed) }
                Output.write("\0", to: output)
                _exit(0)
            }
            guard !begins else { return }
            Output.remark("the system cannot create a thread for the child process")
            _exit(1)
        }
        _exit(1)
    }

    private static func check(
        _ rules: [Rule], _ path: String, _ loadFolder: String?, _ manifest: String?, _ output: Int32
    ) {
        guard var current = rules.first?.id else { return }
        func write(_ line: Line) {
            guard let data = try? JSONEncoder().encode(line) else { return }
            Output.write(bytes: data + [UInt8(ascii: "\n")], to: output)
        }
        let candidate = Candidate(path: path, loadFolder: loadFolder, manifest: manifest) { step in
            write(Line(rule: current, step: step))
        }
        var facts: LibraryFacts?, probe: ComponentProbe?, verdicts: [String: Verdict] = [:]
        for rule in rules {
            current = rule.id
            var verdict = rule.verdict(after: verdicts)
            do throws(BackplaneError) {
                switch rule.check {
                case _ where verdict != nil: break
                case .file(let check):
                    if facts == nil { facts = LibraryFacts(of: path, in: try LoadFolder(in: loadFolder)) }
                    verdict = facts.map(check)
                case .entry(let check): verdict = try check(candidate)
                case .components(let check):
                    if probe == nil { probe = try ComponentProbe(candidate) }
                    verdict = probe.map(check)
                }
            } catch {
                verdict = .failed(error.findings)
            }
            guard fcntl(output, F_GETFD) >= 0 else { _exit(closed) }
            verdicts[rule.id] = verdict
            write(Line(rule: rule.id, verdict: verdict))
        }
    }

    /// Makes the runtime create its shared resources, such as the files for timers and events.
    private static func warmUp() async {
        await withCheckedContinuation { done in DispatchQueue.global().async { done.resume() } }
        await withCheckedContinuation { done in DispatchQueue(label: "warm").async { done.resume() } }
        await withCheckedContinuation { done in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { done.resume() }
        }
        await withCheckedContinuation { done in
            DispatchQueue.global().asyncAfter(wallDeadline: .now() + .milliseconds(1)) { done.resume() }
        }
        try? await Task.sleep(for: .milliseconds(1), clock: .continuous)
        try? await Task.sleep(for: .milliseconds(1), clock: .suspending)
    }
}

extension BackplaneError {
    /// The messages of the error and its causes, without the location, which is always the library.
    fileprivate var findings: [String] { [message] + causes.flatMap { $0.findings.map { "  " + $0 } } }
}
