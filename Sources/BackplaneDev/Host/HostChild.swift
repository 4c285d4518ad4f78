import Backplane
import BackplaneHost
import CBackplaneHost
import Foundation
import Synchronization

/// The process that `backplane dev` runs the application in: code that is being worked on may end it, and the loop goes on.
enum HostChild {
    /// The hidden command that the child runs.
    static let command = "dev-child"
    /// Where it says how it is, a line of JSON each; its other outputs are the application's.
    static let reports: Int32 = 3

    /// How the application is.
    struct Report: Codable, Sendable, Hashable {
        var process: Int32
        /// The socket on which it can be asked and told things.
        var control: String
        var managers: [Manager]
        /// What is wrong with the manifest, as `check` says it.
        var problems: [String]
    }

    struct Manager: Codable, Sendable, Hashable {
        var name: String
        var state: String
        /// Why it is not up.
        var reason: BackplaneError?
    }

    /// What the child does: starts what is sound, says how that went, and stays until it is told to stop, or nobody is there to tell it.
    static func run(_ settings: HostSettings) async -> Int32 {
        let signals = StopSignals()
        bph_print_lines()
        let host = settings.makeHost(), control: ControlSocket
        do { control = try ControlSocket(serving: host, requests: ControlRequest.ofTool) } catch { return Output.fail(error) }
        let isStopping = Mutex(false)
        let end = Task {
            if await signals.next() != nil { isStopping.withLock { $0 = true } }
        }
        Thread.detachNewThread {
            // The other end is closed when the parent has ended, however it did.
            LineReader.read(STDIN_FILENO) { _ in }
            // It did not wait until all is stopped: a person is in a hurry.
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
        await start.value
        return 0
    }

    private static func report(_ host: PluginHost, _ control: ControlSocket, _ manifest: String) async {
        let managers = await host.managers.map { status in
            let row = ManagerRow(status)
            return Manager(name: row.name, state: row.state, reason: row.reason)
        }
        let problems = await host.check().filter { $0.severity == .error }.map { $0.report(in: manifest) }
        let report = Report(process: getpid(), control: control.path, managers: managers, problems: problems)
        guard let line = try? JSONEncoder().encode(report) else { return }
        Output.write(bytes: line + [UInt8(ascii: "\n")], to: reports)
    }
}
