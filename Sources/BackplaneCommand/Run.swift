import ArgumentParser
import Backplane
import BackplaneApp
import BackplaneControl
import BackplaneHost
import BackplaneNetwork
import BackplaneTools
import Glibc
import Synchronization

extension BackplaneTool {
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Start every manager of a manifest, and run until SIGINT or SIGTERM.",
            discussion: """
                Prints what was started. If the manifest has errors, all of them are listed and nothing is started, \
                unless --keep-going is given: then exit code 1 means that nothing could be started. Components are \
                stopped in the reverse order of their start.

                With --serve, or `server` in the manifest, managers that provide HTTPRoutes answer HTTP requests once \
                everything has started. When the command stops, the requests in flight are answered first.

                With --web, the screens of plugins are shown in browsers. The printed address signs one browser in, \
                and is invalid afterwards. With --terminal, the screens are shown here, or as numbered text through a \
                pipe, and the command ends when you quit.

                Other commands control the host through a socket that only your user can access: `swap`, `rollback`, \
                `generations`, `stats`, `log-level`, `apply` and `reset`, and, with --running, `call`, `explain` and \
                `services`.

                EXAMPLES
                  backplane run manifests/almanac.json
                  backplane run manifests/almanac.json --keep-going
                  backplane run almanac.plist --log-level debug
                  backplane run manifests/bookshelf.json --mock manifests/mocks
                  backplane run manifests/bookshelf-served.json --serve 127.0.0.1:8080
                  backplane run manifests/bookshelf-screens.json --web
                  backplane run manifests/bookshelf-screens.json --terminal
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @OptionGroup var substitutes: SubstituteArguments
        @OptionGroup var serving: ServeArguments
        @OptionGroup var screens: ScreenArguments
        @Flag(help: "Show the screens in this terminal.") var terminal = false
        @Flag(help: "Start everything that has no errors, and report what did not start.") var keepGoing = false
        @Option(
            help: ArgumentHelp(
                "The path of the control socket (default: one that other commands find automatically).",
                valueName: "path"))
        var socket: String?
        @Flag(help: "Do not open a control socket.") var noControl = false
        @Flag(help: "Print what was started as JSON.") var json = false

        func validate() throws {
            if noControl, socket != nil {
                throw ValidationError("--no-control and --socket contradict each other; use only one of them")
            }
            guard terminal, json || screens.address != nil else { return }
            throw ValidationError(
                "--terminal shows the screens on standard output; use it without \(json ? "--json" : "--web")")
        }

        func run() async throws {
            let settings = try substitutes.applied(to: host.settings(try manifest.path))
            throw ExitCode(await run(settings))
        }

        private func run(_ settings: HostSettings) async -> Int32 {
            // Handle signals before anything starts, so that none is missed and a start that hangs can be interrupted.
            let signals: StopSignals
            do throws(BackplaneError) {
                // Closing the terminal stops the host gracefully.
                signals = try StopSignals([SIGINT, SIGTERM] + (terminal ? [SIGHUP] : []))
            } catch {
                return Output.fail(error)
            }
            let host = settings.makeHost(), manager = ServiceManager()
            let control: ControlSocket?
            do throws(BackplaneError) {
                control = noControl ? nil : try listen(for: host)
            } catch {
                await host.stop()
                return Output.fail(error)
            }
            defer { control?.close() }
            let frontends = Mutex(Frontends())
            let stopped = Task { () -> Bool in
                guard let signal = await signals.next() else { return false }
                manager?.tell("STOPPING=1")
                if !json, !terminal { Output.line("\(signal): stopping") }
                let running = frontends.withLock { frontends in
                    frontends.isStopping = true
                    return frontends
                }
                await running.stop(host)
                await end(host, control)
                if !json, !terminal { Output.line("stopped") }
                return true
            }
            do {
                guard await isAccepted(host, settings.manifest) else { return await giveUp(host, control, stopped) }
                try await StartProgress.shown(of: host) { try await host.start(keepGoing: keepGoing) }
            } catch {
                if (error as? BackplaneError)?.code == .hostStopped, await stopped.value { return 0 }
                _ = Output.fail(error)
                return await giveUp(host, control, stopped)
            }
            let managers = await host.managers
            // A lazy manager can still be started.
            let isIdle =
                keepGoing && !managers.isEmpty && !managers.contains { $0.state == .ready || $0.state == .resolved }
            if let remark = Engines.remark, !isIdle { Output.remark("backplane: \(remark)") }
            for remark in await host.remarksOnLogLevels() {
                Output.remark("backplane: --log-level: \(remark.printable)")
            }
            if !isIdle {
                do throws(BackplaneError) {
                    try await begin(host, settings, frontends)
                } catch {
                    _ = Output.fail(error)
                    await frontends.withLock(\.self).stop(host)
                    return await giveUp(host, control, stopped)
                }
            }
            report(managers, control, frontends.withLock(\.self), isIdle: isIdle)
            if isIdle {
                Output.remark("backplane: no manager is running")
                return await giveUp(host, control, stopped)
            }
            manager?.tell("READY=1\nSTATUS=\(counted(managers.count { $0.state == .ready }, "manager")) up")
            // This proves that Swift's thread pool and the host's coordinator respond.
            let life = Task { await manager?.keepAlive { _ = await host.managers } }
            defer { life.cancel() }
            guard let session = frontends.withLock(\.session) else {
                _ = await stopped.value
                return 0
            }
            guard let result = await Self.result(of: session, unless: stopped) else { return 0 }
            if !frontends.withLock(\.isStopping) { stopped.cancel() }
            if await stopped.value { return 0 }
            await frontends.withLock(\.self).stop(host)
            await end(host, control)
            if case .failure(let error) = result { return Output.fail(error) }
            return 0
        }

        /// The servers and the session through which the host is used; they stop before the host.
        private struct Frontends {
            /// The servers of routes and of screens for browsers.
            var routes, screens: RunningServer?
            /// The screens in this terminal.
            var session: Task<Void, any Error>?
            var isStopping = false

            /// Stops the servers and the session, and waits for the session no longer than the host's limit.
            func stop(_ host: PluginHost) async {
                await withDiscardingTaskGroup { group in
                    for server in [screens, routes].compactMap(\.self) { group.addTask { await server.stop(nil) } }
                    guard let session else { return }
                    session.cancel()
                    _ = try? await Race.run(
                        by: host.clock, { _ = await session.result }, within: host.stopLimit,
                        otherwise: CancellationError())
                }
            }
        }

        /// Returns the result of the session; `nil` if everything was stopped before the session ended.
        private static func result(
            of session: Task<Void, any Error>, unless stopped: Task<Bool, Never>
        ) async -> Result<Void, any Error>? {
            let (ends, end) = AsyncStream.makeStream(of: Result<Void, any Error>?.self)
            Task { end.yield(await session.result) }
            Task { if await stopped.value { end.yield(nil) } }
            for await result in ends { return result }
            return nil
        }

        /// Starts the servers and the session in the terminal that the options request.
        private func begin(
            _ host: PluginHost, _ settings: HostSettings, _ frontends: borrowing Mutex<Frontends>
        ) async throws(BackplaneError) {
            if let routes = try await serving.begin(host) { frontends.withLock { $0.routes = routes } }
            guard terminal || screens.address != nil else { return }
            try await host.requireScreens()
            let app = AppManager(host)
            if let server = try await screens.begin(app, settings, beside: serving.settings(for: host)) {
                frontends.withLock { $0.screens = server }
            }
            guard terminal else { return }
            frontends.withLock { $0.session = Task { try await TerminalSession.run(app) } }
        }

        /// Prints all errors of the manifest on standard error and returns whether to start.
        ///
        /// With errors, nothing starts unless `keepGoing` is set and there is at least one manager.
        private func isAccepted(_ host: PluginHost, _ manifest: String) async -> Bool {
            let problems = await serving.problems(of: host), errors = problems.causes.filter { $0.severity == .error }
            guard !errors.isEmpty else { return true }
            for problem in errors.shortList { Output.remark(problem.report(in: manifest)) }
            for rest in [errors.summaryOfRest, problems.summaryOfConsequences] { if let rest { Output.remark(rest) } }
            if keepGoing { return await !host.managers.isEmpty }
            Output.remark(
                "backplane: \(manifest) has \(counted(errors.count, "error")), so nothing was started; --keep-going starts everything without errors"
            )
            return false
        }

        private func giveUp(_ host: PluginHost, _ control: ControlSocket?, _ stopped: Task<Bool, Never>) async -> Int32
        {
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

        private func report(
            _ managers: [ManagerStatus], _ control: ControlSocket?, _ frontends: Frontends, isIdle: Bool
        ) {
            let server = frontends.routes
            if server?.routes == 0 { Output.remark("backplane: \(RunningServer.noRoutes)") }
            if json {
                struct Report: Encodable { var managers: [ManagerRow], control, server, screens: String? }
                return Output.json(
                    Report(
                        managers: managers.map(ManagerRow.init), control: isIdle ? nil : control?.path,
                        server: server?.url, screens: frontends.screens?.url))
            }
            if frontends.session != nil { return }
            if !managers.isEmpty { Output.table(Table(managers)) }
            guard !isIdle else { return }
            if let server { Output.line("serving \(server.url) (\(counted(server.routes, "route")))") }
            if let screens = frontends.screens { Output.line("screens \(screens.url) (for one browser)") }
            if let control { Output.line("control socket \(control.path.printable)") }
            let up = managers.count { $0.state == .ready }
            Output.line(
                "\(up == managers.count ? "" : "\(up) of ")\(counted(managers.count, "manager")) up; stop with control-C"
            )
        }
    }
}

/// A manager as listed by `run`.
struct ManagerRow: Encodable {
    var name: String
    var className: String
    var version: String
    var plugin: String
    var state: String
    /// The reason why the manager is not ready.
    var reason: BackplaneError?

    init(_ status: ManagerStatus) {
        (name, className, state) = (status.name, status.className ?? "-", status.state.description)
        (version, plugin) = (status.version?.description ?? "-", status.plugin ?? "-")
        reason = status.state.reason?.shown
    }
}

extension Table {
    /// Creates a table of managers, with a column for the reasons if any manager is not ready.
    init(_ managers: [ManagerStatus]) {
        let rows = managers.map(ManagerRow.init), tellsWhy = rows.contains { $0.reason != nil }
        self.init(
            ["MANAGER", "CLASS", "VERSION", "PLUGIN", "STATE"] + (tellsWhy ? ["WHY"] : []),
            zip(managers, rows).map { manager, row in
                [row.name, row.className, row.version, row.plugin].map { Span($0.printable) } + [manager.state.span]
                    + (tellsWhy ? [Span(row.reason?.description.printable.namingOptions ?? "")] : [])
            })
    }
}

extension ManagerState {
    /// The reason why the manager is not ready, if it is an error.
    var reason: BackplaneError? {
        switch self {
        case .unsatisfied(let error), .failed(let error): error
        case .resolved, .starting, .ready, .quiescing, .stopped: nil
        }
    }

    fileprivate var span: Span {
        switch self {
        case .ready: Span(description, .good)
        case .failed, .unsatisfied: Span(description, .bad)
        case .resolved, .starting, .quiescing, .stopped: Span(description)
        }
    }
}

/// A progress line on standard error for a slow start of a host, shown only at a terminal.
enum StartProgress {
    /// The delay after which the line appears, and the interval of its updates.
    private static let patience = Duration.seconds(1), interval = Duration.milliseconds(200)

    static func shown(of host: PluginHost, during start: () async throws -> Void) async rethrows {
        guard Terminal.takesProgress else { return try await start() }
        let watch = Task {
            var pause = patience
            while (try? await Task.sleep(for: pause)) != nil {
                ProgressLine().showFitting(line(await host.managers))
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
