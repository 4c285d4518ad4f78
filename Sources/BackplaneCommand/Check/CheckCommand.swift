import Backplane
import BackplaneHost
import BackplaneTerminal

/// The command `backplane check`: loads the manifest's plugins and lists all problems without starting anything.
struct CheckCommand: Sendable {
    var settings: HostSettings
    var json = false
    /// A Boolean value that indicates whether warnings also fail the check.
    var strict = false
    /// A Boolean value that indicates whether to also list problems that follow from others.
    var all = false
    /// A Boolean value that indicates whether to write the chosen versions into the manifest's lock.
    var lock = false

    func run() async -> Int32 {
        if let problems = DefinitionCheck.problems(of: settings.manifest) { return checked(definition: problems) }
        if lock { return await LockCommand(settings: settings, json: json, strict: strict, all: all).run() }
        let host = settings.makeHost()
        let problems = await host.problems(strict: strict)
        await host.stop()
        return report(problems)
    }

    private func report(_ problems: [Problem]) -> Int32 {
        if json { Output.json(problems.map(ProblemRow.init)) } else { problems.print(of: settings, all: all) }
        return problems.fail(strict: strict) ? 1 : 0
    }

    private func checked(definition problems: [Problem]) -> Int32 {
        guard lock else { return report(problems) }
        return Output.fail(
            BackplaneError(
                .manifestUnsupported, "a definition of a web service has no lock; leave out --lock",
                at: settings.manifest))
    }
}

extension PluginHost {
    /// Returns the problems of the manifest and, if `strict`, the states that can only cross as JSON.
    func problems(strict: Bool) async -> [Problem] {
        await check() + (strict ? encodedStates() : [])
    }
}

extension [Problem] {
    /// Returns whether the problems include an error or, if `strict`, are not empty.
    func fail(strict: Bool) -> Bool {
        contains { strict || $0.severity == .error }
    }

    /// Prints the problems for people, including those that follow from others only if `all` is set.
    func print(of settings: HostSettings, all: Bool = false) {
        let list = ProblemList(
            manifest: settings.manifest, problems: self, showsAll: all, options: settings.composingOptions)
        for line in list.lines(colour: Terminal.wantsColour) { Output.line(line) }
    }
}
