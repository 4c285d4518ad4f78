import Backplane
import BackplaneControl
import BackplaneDev
import BackplaneHost
import BackplaneProcesses
import BackplaneReports
import BackplaneTerminal
import CBackplaneHost
import Foundation
import Synchronization

extension HostChild {
    /// Starts all managers that have no errors, reports the result, and runs until a signal or the end of the parent.
    static func run(_ settings: HostSettings) async -> Int32 {
        let signals: StopSignals, host: PluginHost, control: ControlSocket
        do {
            signals = try StopSignals()
            bph_print_lines()
            host = settings.makeHost()
            control = try ControlSocket(serving: host, requests: ControlRequest.ofTool)
        } catch {
            return Output.fail(error)
        }
        let isStopping = Mutex(false)
        let end = Task {
            if await signals.next() != nil { isStopping.withLock { $0 = true } }
        }
        Thread.detachNewThread {
            // The other end closes when the parent has ended, for whatever reason.
            LineReader.read(STDIN_FILENO) { _ in }
            // The parent ended without waiting for the components to stop: the user is in a hurry.
            if isStopping.withLock({ $0 }) { _exit(130) }
            end.cancel()
        }
        let start = Task {
            try? await host.start(keepGoing: true)
            await report(host, control, settings.manifest)
        }
        await end.value
        control.close()
        await host.stop()
        await control.finish()
        await start.value
        return 0
    }

    private static func report(_ host: PluginHost, _ control: ControlSocket, _ manifest: String) async {
        let managers = await host.managers.map { status in
            let row = ManagerRow(status)
            return ReportedManager(name: row.name, state: row.state, reason: row.reason)
        }
        let all = await host.check(), errors = all.causes.filter { $0.severity == .error }
        let problems =
            errors.shortList.map { $0.report(in: manifest) }
            + [errors.summaryOfRest, all.summaryOfConsequences].compactMap(\.self)
        let report = Report(process: getpid(), control: control.path, managers: managers, problems: problems)
        guard let line = try? JSONEncoder().encode(report) else { return }
        Output.write(bytes: line + [UInt8(ascii: "\n")], to: reports)
    }
}
