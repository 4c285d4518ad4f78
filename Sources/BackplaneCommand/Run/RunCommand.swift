import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneProcesses
import BackplaneReports
import BackplaneTerminal

/// The command `backplane run`: starts all managers, reports their states, and runs until it is stopped.
struct RunCommand: Sendable {
    var settings: HostSettings
    var json = false
    /// A Boolean value that indicates whether to start the managers without errors even if others have errors.
    var keepsGoing = false
    /// A Boolean value that indicates whether to listen for other commands on a control socket.
    var isControlled = true
    /// The path of the control socket; `nil` means one that other commands find automatically.
    var socket: String?

    func run() async -> Int32 {
        // Handle signals before anything starts, so that none is missed and a start that hangs can be interrupted.
        let signals: StopSignals
        do throws(BackplaneError) { signals = try StopSignals() } catch { return Output.fail(error) }
        let host = settings.makeHost(), manager = ServiceManager()
        let control: ControlSocket?
        do throws(BackplaneError) {
            control = isControlled ? try listen(for: host) : nil
        } catch {
            await host.stop()
            return Output.fail(error)
        }
        defer { control?.close() }
        let stopped = Task { () -> Bool in
            guard let signal = await signals.next() else { return false }
            manager?.tell("STOPPING=1")
            if !json { Output.line("\(signal): stopping") }
            await end(host, control)
            if !json { Output.line("stopped") }
            return true
        }
        do {
            guard await isAccepted(host) else { return await giveUp(host, control, stopped) }
            try await StartProgress.shown(of: host) { try await host.start(keepGoing: keepsGoing) }
        } catch {
            if (error as? BackplaneError)?.code == .hostStopped, await stopped.value { return 0 }
            _ = Output.fail(error)
            return await giveUp(host, control, stopped)
        }
        // The first swap need not wait for it.
        if isControlled { _ = HostThread.tryStart("bp-trials") { TrialProcess.shared.prepare() } }
        let managers = await host.managers
        // A lazy manager can still be started.
        let isIdle =
            keepsGoing && !managers.isEmpty && !managers.contains { $0.state == .ready || $0.state == .resolved }
        for remark in await host.remarksOnLogLevels() { Output.remark("backplane: --log-level: \(remark.printable)") }
        report(managers, control, isIdle: isIdle)
        if isIdle {
            Output.remark("backplane: no manager is running")
            return await giveUp(host, control, stopped)
        }
        manager?.tell("READY=1\nSTATUS=\(counted(managers.count { $0.state == .ready }, "manager")) up")
        // Swift's pool and the host's coordinator both answer.
        let life = Task { await manager?.keepAlive { _ = await host.managers } }
        defer { life.cancel() }
        _ = await stopped.value
        return 0
    }

    /// Prints all errors of the manifest on standard error and returns whether to start.
    ///
    /// With errors, nothing starts unless `keepsGoing` is set and there is at least one manager.
    private func isAccepted(_ host: PluginHost) async -> Bool {
        let problems = await host.check(), errors = problems.causes.filter { $0.severity == .error }
        guard !errors.isEmpty else { return true }
        for problem in errors.shortList { Output.remark(problem.report(in: settings.manifest)) }
        for rest in [errors.summaryOfRest, problems.summaryOfConsequences] { if let rest { Output.remark(rest) } }
        if keepsGoing { return await !host.managers.isEmpty }
        Output.remark(
            "backplane: \(settings.manifest) has \(counted(errors.count, "error")), so nothing was started; --keep-going starts everything without errors"
        )
        return false
    }

    private func giveUp(_ host: PluginHost, _ control: ControlSocket?, _ stopped: Task<Bool, Never>) async -> Int32 {
        stopped.cancel()
        await end(host, control)
        return 1
    }

    /// Stops the host, and answers the clients' pending requests.
    private func end(_ host: PluginHost, _ control: ControlSocket?) async {
        control?.close()
        await host.stop()
        for request in await control?.finish() ?? [] {
            Output.remark("backplane: warning: a client does not read its response: \(request.printable)")
        }
    }

    /// Opens the control socket; if that fails and no path was requested, the host runs without one.
    private func listen(for host: PluginHost) throws(BackplaneError) -> ControlSocket? {
        do throws(BackplaneError) {
            return try ControlSocket(serving: host, at: socket, requests: ControlRequest.ofTool)
        } catch {
            guard socket == nil else { throw error }
            for line in error.reportLines { Output.remark("backplane: warning: \(line)") }
            Output.remark("backplane: the host runs without a control socket, as with --no-control")
            return nil
        }
    }

    private func report(_ managers: [ManagerStatus], _ control: ControlSocket?, isIdle: Bool) {
        if json {
            struct Report: Encodable { var managers: [ManagerRow], control: String? }
            return Output.json(Report(managers: managers.map(ManagerRow.init), control: isIdle ? nil : control?.path))
        }
        if !managers.isEmpty { Output.table(Table(managers)) }
        guard !isIdle else { return }
        if let control { Output.line("control socket \(control.path.printable)") }
        let up = managers.count { $0.state == .ready }
        Output.line(
            "\(up == managers.count ? "" : "\(up) of ")\(counted(managers.count, "manager")) up; stop with control-C")
    }
}
