import Backplane
import BackplaneHost

/// `backplane run`: starts everything, says what is up, stays until it is asked to stop.
struct RunCommand: Sendable {
    var settings: HostSettings
    var json = false

    func run() async -> Int32 {
        // Before anything starts, so that no signal is missed, and a start that hangs can be given up.
        let signals = StopSignals()
        let host = settings.makeHost()
        let stopped = Task { () -> Bool in
            guard let signal = await signals.next() else { return false }
            if !json { Output.line("\(signal): stopping") }
            await host.stop()
            if !json { Output.line("stopped") }
            return true
        }
        do {
            try await host.start()
        } catch {
            if error.code == .hostStopped, await stopped.value { return 0 }
            stopped.cancel()
            await host.stop()
            return Output.fail(error)
        }
        await report(host)
        _ = await stopped.value
        return 0
    }

    private func report(_ host: PluginHost) async {
        let rows = await host.managers.map(ManagerRow.init)
        if json {
            Output.json(rows)
        } else {
            Output.table(["MANAGER", "CLASS", "VERSION", "PLUGIN", "STATE"], rows.map { [$0.name, $0.className, $0.version, $0.plugin, $0.state] })
            Output.line("\(counted(rows.count, "manager")) up; stop with control-C")
        }
    }
}
