import BackplaneHost

/// `backplane run`: starts everything, says what is up, stays until it is asked to stop.
struct RunCommand: Sendable {
    var settings: HostSettings
    var json = false

    func run() async -> Int32 {
        // Before anything starts, so that no signal is missed.
        let signals = StopSignals()
        let host = settings.makeHost()
        do {
            try await host.start()
        } catch {
            await host.stop()
            return Output.fail(error)
        }
        let rows = await host.managers.map(ManagerRow.init)
        if json {
            Output.json(rows)
        } else {
            Output.table(["MANAGER", "CLASS", "VERSION", "PLUGIN", "STATE"], rows.map { [$0.name, $0.className, $0.version, $0.plugin, $0.state] })
            Output.line("\(counted(rows.count, "manager")) up; stop with control-C")
        }
        let signal = await signals.next()
        if !json { Output.line("\(signal): stopping") }
        await host.stop()
        if !json { Output.line("stopped") }
        return 0
    }
}
