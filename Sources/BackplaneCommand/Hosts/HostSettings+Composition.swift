import BackplaneHost
import BackplaneReports
import BackplaneTerminal

extension HostSettings {
    /// Composes the manifest with its plugins, without starting anything or leaving files behind.
    func compose() async -> Composition {
        let host = makeHost()
        let composition = await host.composition()
        await host.stop()
        return composition
    }

    /// Prints the number of errors on standard error, if there are any, and the command that lists them.
    func remark(onErrorsOf composition: Composition) {
        let errors = composition.problems.errors.count
        guard errors > 0 else { return }
        let faults = composition.plan.faults.count
        let subject = faults == 0 ? "" : "; \(counted(faults, "manager")) cannot be created"
        let command = ShellCommand(name: "check", words: [manifest], options: composingOptions)
        Output.remark("backplane: \(manifest) has \(counted(errors, "error"))\(subject): `\(command.text)` lists all")
    }

    /// The given options that another command needs to compose the manifest in the same way.
    var composingOptions: [ShellCommand.Option] {
        (environment.map { [.init(name: "--environment", value: $0)] } ?? [])
            + pluginPaths.map { .init(name: "--plugin-path", value: $0) }
    }

    /// Prints the errors that prevent the manifest from being read, and returns the exit code.
    func fail(_ composition: Composition) -> Int32 {
        for problem in composition.problems.causes where problem.severity == .error {
            Output.remark(problem.report(in: manifest))
        }
        if let summary = composition.problems.summaryOfConsequences { Output.remark(summary) }
        return 1
    }
}
