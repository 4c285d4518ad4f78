import BackplaneHost
import BackplaneTerminal

/// `backplane check`: loads what the manifest names, lists everything that is wrong, starts nothing.
struct CheckCommand: Sendable {
    var settings: HostSettings
    var json = false
    /// Warnings fail too.
    var strict = false

    /// Write what was chosen into the manifest's lock.
    var lock = false

    func run() async -> Int32 {
        if lock { return await LockCommand(settings: settings, json: json, strict: strict).run() }
        let host = settings.makeHost()
        let problems = await host.check()
        await host.stop()
        if json { Output.json(problems.map(ProblemRow.init)) } else { problems.print(of: settings) }
        return problems.fail(strict: strict) ? 1 : 0
    }
}

extension [Problem] {
    /// Whether one of them is an error, or any at all where warnings fail too.
    func fail(strict: Bool) -> Bool {
        contains { strict || $0.severity == .error }
    }

    func print(of settings: HostSettings) {
        let list = ProblemList(manifest: settings.manifest, problems: self, options: settings.composingOptions)
        for line in list.lines(colour: Terminal.wantsColour) { Output.line(line) }
    }
}
