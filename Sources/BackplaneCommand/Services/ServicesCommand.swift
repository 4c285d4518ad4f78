import BackplaneControl
import BackplaneHost
import BackplaneTerminal

/// The command `backplane services`: lists the components that each plugin registers, and their users.
struct ServicesCommand: Sendable {
    var settings: HostSettings
    /// The running host to use, or `nil` to compose the manifest without starting anything.
    var running: HostChoice?
    var json = false

    func run() async -> Int32 {
        if let running {
            return running.ask(ServicesRequest()) { list, _ in
                report(list)
                return 0
            }
        }
        let composition = await settings.compose()
        if composition.isEmpty, composition.plugins.isEmpty { return settings.fail(composition) }
        report(ServiceList(composition))
        settings.remark(onErrorsOf: composition)
        return 0
    }

    private func report(_ list: ServiceList) {
        if json { return Output.json(list) }
        Output.table(list.table)
        guard let missing = list.missingTable else { return }
        Output.line("\nwires that are not connected:")
        Output.table(missing)
    }
}
