import Backplane
import BackplaneHost
import BackplaneReports
import BackplaneTerminal

/// The problems of a manifest as printed by `check`: grouped by manager, each line beginning with its location.
struct ProblemList: Sendable {
    var manifest: String
    var problems: [Problem]
    /// A Boolean value that indicates whether to also list problems that follow from others.
    var showsAll = false
    /// The options of the command that affect the meaning of the manifest.
    var options: [ShellCommand.Option] = []

    func lines(colour: Bool) -> [String] {
        let groups = groups
        return groups.flatMap { group in
            // With a single group, the summary is enough.
            let lines = group.map { $0.report(in: manifest, colour: colour) }
            return groups.count > 1 ? [heading(of: group).text(colour: colour)] + lines + [""] : lines
        } + rest + [summary] + hints
    }

    /// The summaries of the unlisted problems, with the options that list them.
    private var rest: [String] {
        [
            shown.summaryOfRest.map { "\($0); --json lists all" },
            showsAll ? nil : problems.summaryOfConsequences.map { "\($0); --all lists all" },
        ].compactMap(\.self)
    }

    private var shown: [Problem] { showsAll ? problems : problems.causes }

    /// The listed problems, grouped by manager in their order; those of the whole manifest come first.
    private var groups: [[Problem]] {
        shown.shortList.reduce(into: []) { groups, problem in
            if groups.last?.first.map({ $0.manager == problem.manager }) == true {
                groups[groups.count - 1].append(problem)
            } else {
                groups.append([problem])
            }
        }
    }

    private func heading(of group: [Problem]) -> Span {
        Span("\(group.first?.manager?.printable ?? "the manifest"): \(Self.counts(group))", .heading)
    }

    private var summary: String {
        problems.isEmpty ? "\(manifest): no problems" : "\(manifest): \(Self.counts(shown, withNone: true))"
    }

    /// A suggestion for the next command, if one manager's fault is caused by another's.
    private var hints: [String] {
        guard let follower = problems.first(where: { $0.error.code == .dependencyUnsatisfied })?.manager else {
            return []
        }
        let command = ShellCommand(name: "explain", words: [manifest, follower], options: options)
        return ["`\(command.text)` traces the fault of `\(follower.printable)` to its cause"]
    }

    private static func counts(_ problems: [Problem], withNone: Bool = false) -> String {
        let errors = problems.count { $0.severity == .error }, warnings = problems.count - errors
        return [(errors, "error"), (warnings, "warning")].filter { withNone || $0.0 > 0 }.map { counted($0, $1) }
            .joined(separator: ", ")
    }
}
