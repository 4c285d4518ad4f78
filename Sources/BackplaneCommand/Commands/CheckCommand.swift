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
            for line in ProblemList(manifest: settings.manifest, problems: problems).lines(colour: Terminal.wantsColour) { Output.line(line) }
        }
        return failing.isEmpty ? 0 : 1
    }
}

func counted(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
