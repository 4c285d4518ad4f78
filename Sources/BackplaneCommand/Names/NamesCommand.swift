import BackplaneHost
import BackplaneTerminal

/// The command `backplane names`: prints a Swift constant for each manager.
struct NamesCommand: Sendable {
    var settings: HostSettings
    var json = false

    func run() async -> Int32 {
        let composition = await settings.compose()
        if composition.isEmpty { return settings.fail(composition) }
        let constants = ManagerConstants(composition)
        if json { Output.json(constants) } else { Output.line(constants.swift(of: settings.manifest)) }
        settings.remark(onErrorsOf: composition)
        return 0
    }
}
