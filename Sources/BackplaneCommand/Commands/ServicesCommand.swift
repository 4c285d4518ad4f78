import BackplaneHost

/// `backplane services`: lists what each plugin registers, and who uses it.
struct ServicesCommand: Sendable {
    var settings: HostSettings
    var json = false

    func run() async -> Int32 {
        let composition = await settings.compose()
        if composition.isEmpty, composition.plugins.isEmpty { return settings.fail(composition) }
        let list = ServiceList(composition)
        if json {
            Output.json(list)
        } else {
            Output.table(list.table)
            if let missing = list.missingTable {
                Output.line("\nwires that nothing is connected to:")
                Output.table(missing)
            }
        }
        settings.remark(onErrorsOf: composition)
        return 0
    }
}
