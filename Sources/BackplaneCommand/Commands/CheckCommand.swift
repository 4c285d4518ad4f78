import BackplaneHost

/// `backplane check`: loads what the manifest names, lists everything that is wrong, starts nothing.
struct CheckCommand: Sendable {
    var settings: HostSettings
    var json = false
    /// Warnings fail too.
    var strict = false

    func run() async -> Int32 {
        let host = settings.makeHost()
        let problems = await host.check()
        await host.stop()
        let failing = problems.filter { strict || $0.severity == .error }
        if json {
            Output.json(problems.map(ProblemRow.init))
        } else {
            for problem in problems { Output.line(problem.report(in: settings.manifest)) }
            Output.line(summary(problems))
        }
        return failing.isEmpty ? 0 : 1
    }

    private func summary(_ problems: [Problem]) -> String {
        let errors = problems.count { $0.severity == .error }, warnings = problems.count - errors
        guard !problems.isEmpty else { return "\(settings.manifest): no problems" }
        return "\(settings.manifest): \(counted(errors, "error")), \(counted(warnings, "warning"))"
    }
}

func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
