import BackplaneHost
import BackplaneTerminal

/// A progress line on standard error for a slow start of a host, shown only at a terminal.
enum StartProgress {
    /// The delay after which the line appears, and the interval of its updates.
    private static let patience = Duration.seconds(1), interval = Duration.milliseconds(200)

    static func shown(of host: PluginHost, during start: () async throws -> Void) async rethrows {
        guard Terminal.takesProgress else { return try await start() }
        let watch = Task {
            var pause = patience
            while (try? await Task.sleep(for: pause)) != nil {
                ProgressLine().show(line(await host.managers))
                pause = interval
            }
            if pause != patience { ProgressLine().clear() }
        }
        do {
            try await start()
        } catch {
            watch.cancel()
            await watch.value
            throw error
        }
        watch.cancel()
        await watch.value
    }

    static func line(_ managers: [ManagerStatus]) -> String {
        let up = managers.count { $0.state == .ready },
            starting = managers.filter { $0.state == .starting }.map(\.name.printable)
        let now =
            starting.isEmpty ? "" : ": \(starting.prefix(3).joined(separator: ", "))\(starting.count > 3 ? ", …" : "")"
        return "starting, \(up) of \(managers.count) up\(now)"
    }
}
