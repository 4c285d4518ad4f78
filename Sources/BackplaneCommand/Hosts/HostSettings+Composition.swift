import BackplaneHost
import BackplaneReports
import BackplaneTerminal

extension HostSettings {
    /// What the manifest comes to with its plugins. Starts nothing, leaves nothing behind.
    func compose() async -> Composition {
        let host = makeHost()
        let composition = await host.composition()
        await host.stop()
        return composition
    }

    /// Says on standard error that there are errors, and how to learn of them.
    func remark(onErrorsOf composition: Composition) {
        let errors = composition.problems.count { $0.severity == .error }
        guard errors > 0 else { return }
        let faults = composition.plan.faults.count
        let subject = faults == 0 ? "" : "; \(counted(faults, "manager")) cannot be created"
        let command = ShellCommand(name: "check", words: [manifest], options: composingOptions)
        Output.remark("backplane: \(manifest) has \(counted(errors, "error"))\(subject): `\(command.text)` lists all")
    }

    /// The options that were given and that another command needs, so that the manifest comes to the same.
    var composingOptions: [ShellCommand.Option] {
        (environment.map { [.init(name: "--environment", value: $0)] } ?? []) + pluginPaths.map { .init(name: "--plugin-path", value: $0) }
    }

    /// Says on standard error what keeps a manifest from being read.
    func fail(_ composition: Composition) -> Int32 {
        for problem in composition.problems where problem.severity == .error { Output.remark(problem.report(in: manifest)) }
        return 1
    }
}
