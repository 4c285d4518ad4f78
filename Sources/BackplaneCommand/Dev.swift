import ArgumentParser
import Backplane
import BackplaneApp
import BackplaneControl
import BackplaneHost
import BackplaneTools
import CBackplaneHost
import Foundation
import Synchronization

extension BackplaneTool {
    struct Dev: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dev",
            abstract: "Build a manifest's plugins, run them, and swap in every change you save.",
            discussion: """
                Watches the sources, the manifest and the libraries. Saved changes are built and swapped into the \
                running application, which keeps its state and loses no calls. A change that does not build changes \
                nothing. The plugins are built from the package that contains the manifest.

                Keys in a terminal: \(DevKey.legend).

                EXAMPLES
                  backplane dev
                  backplane dev manifests/almanac.json
                  backplane dev backplane.json --package ../weather-plugin
                  backplane dev --serve 127.0.0.1:8080
                  backplane dev --web
                  backplane dev --running
                  backplane dev --debug
                  backplane dev --json | jq .event
                """)

        @OptionGroup var manifest: ManifestArguments
        @OptionGroup var host: HostArguments
        @OptionGroup var substitutes: SubstituteArguments
        @OptionGroup var serving: ServeArguments
        @OptionGroup var screens: ScreenArguments
        @Option(
            name: .customLong("package"), parsing: .singleValue,
            help: ArgumentHelp(
                "Another package whose plugins are built and watched; can be repeated.", valueName: "folder")
        )
        var packages: [String] = []
        @Option(
            help: ArgumentHelp("The build configuration: debug or release.", valueName: "configuration"),
            completion: .list(SwiftPM.configurations), transform: SwiftPM.configuration)
        var configuration = "debug"
        @Option(help: ArgumentHelp("The build folder of all packages (default: .build in each).", valueName: "folder"))
        var scratchPath: String?
        @Option(
            name: .customLong("build-flag"), parsing: .unconditionalSingleValue,
            help: ArgumentHelp("A flag to pass to `swift build`; can be repeated.", valueName: "flag"))
        var flags: [String] = []
        @Flag(
            help:
                "Swap into the host that already runs the manifest, such as your own program, instead of starting one.")
        var running = false
        @Option(help: ArgumentHelp("The path of the running host's control socket.", valueName: "path"))
        var socket: String?
        @OptionGroup var calls: LongCallArguments
        @Flag(help: "Allow a debugger to attach to the application, and show the command for it.") var debug = false
        @Flag(help: "Print one line of JSON for each event.") var json = false

        func run() async throws {
            if running || socket != nil {
                try substitutes.requireNone()
                try serving.requireNone()
                try screens.requireNone()
            }
            if substitutes.replay != nil { _ = try substitutes.cassette() }  // its errors appear here
            let swiftPM = SwiftPM(configuration: configuration, scratchPath: scratchPath, flags: flags)
            var settings = try host.settings(try manifest.path).application
            settings.swaps = try calls.options
            settings.options += substitutes.words + serving.words + screens.words
            settings.isDebugged = debug
            let choice = DevCommand.running(running, socket, settings)
            throw ExitCode(
                await DevCommand(settings: settings, packages: packages, swiftPM: swiftPM, running: choice, json: json)
                    .run())
        }
    }

    /// The process in which ``Dev`` runs the application.
    struct DevChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: HostChild.command, shouldDisplay: false)

        @OptionGroup var host: HostArguments
        @OptionGroup var substitutes: SubstituteArguments
        @OptionGroup var serving: ServeArguments
        @OptionGroup var screens: ScreenArguments
        @Flag var debug = false
        @OptionGroup var manifest: ManifestArgument

        func run() async throws {
            if debug { bph_admit_debuggers() }
            let settings = try substitutes.applied(to: host.settings(manifest.path))
            throw ExitCode(await HostChild.run(settings, serving, screens))
        }
    }
}

extension HostSettings {
    /// The settings of the development loop, with the options for the hidden command that creates an identical host.
    var application: DevSettings {
        let options =
            [("--load-folder", loadFolder), ("--data", data)] + (log?.options ?? []).map { ($0.name, $0.value) }
        return DevSettings(
            manifest: manifest, environment: environment, pluginPaths: pluginPaths,
            options: options.flatMap { name, value in value.map { ["\(name)=\($0)"] } ?? [] }, read: { document })
    }
}

extension HostChild {
    /// Starts all managers that have no errors, reports the result, and runs until a signal or the end of the parent.
    static func run(
        _ settings: HostSettings, _ serving: ServeArguments, _ screens: ScreenArguments
    ) async -> Int32 {
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
            // The pipe closes when the parent ends for any reason.
            LineReader.read(STDIN_FILENO) { _ in }
            // The parent has ended without waiting, so do not wait for the components to stop.
            if isStopping.withLock({ $0 }) { _exit(130) }
            end.cancel()
        }
        let servers = Mutex<(routes: RunningServer?, screens: RunningServer?)>((nil, nil))
        let start = Task {
            var problemsOfServer: [String] = []
            do throws(BackplaneError) {
                try await host.start(keepGoing: true)
                let begun = try await serving.begin(host, reloadsPages: true)
                servers.withLock { $0.routes = begun }
                if let begun, begun.routes == 0 { problemsOfServer = [RunningServer.noRoutes] }
            } catch {
                problemsOfServer = error.reportLines
            }
            do throws(BackplaneError) {
                let begun = try await screens.begin(AppManager(host), settings, beside: serving.settings(for: host))
                servers.withLock { $0.screens = begun }
                // The errors may be fixed by a later save.
                if begun != nil { try await host.requireScreens() }
            } catch {
                problemsOfServer += error.reportLines
            }
            let isServer = serving.settings(for: host) != nil
            let problems = await serving.problems(of: host).inShort(of: settings.manifest)
            let (routes, web) = servers.withLock(\.self)
            await report(host, control, routes, web, problems + problemsOfServer)
            guard !isServer else { return }
            for await _ in host.events where serving.settings(for: host) != nil {
                return Output.remark("backplane: the manifest has a `server` now; restart the application to serve")
            }
        }
        await end.value
        // The parent kills this process after 10 seconds, part of which the components need.
        let (routes, web) = servers.withLock(\.self)
        await web?.stop(.seconds(1))
        await routes?.stop(.seconds(2))
        control.close()
        await host.stop()
        await control.finish()
        await start.value
        return 0
    }

    private static func report(
        _ host: PluginHost, _ control: ControlSocket, _ server: RunningServer?, _ screens: RunningServer?,
        _ problems: [String]
    ) async {
        let managers = await host.managers.map { status in
            let row = ManagerRow(status)
            return ReportedManager(name: row.name, state: row.state, reason: row.reason)
        }
        let report = Report(
            process: getpid(), control: control.path, server: server?.url, screens: screens?.url, managers: managers,
            problems: problems)
        guard let line = try? JSONEncoder().encode(report) else { return }
        Output.write(bytes: line + [UInt8(ascii: "\n")], to: reports)
    }
}

extension [Problem] {
    /// Returns the errors in the format of `check`, and the number of errors that are not shown.
    fileprivate func inShort(of manifest: String) -> [String] {
        let errors = causes.filter { $0.severity == .error }
        return errors.shortList.map { $0.report(in: manifest) }
            + [errors.summaryOfRest, summaryOfConsequences].compactMap(\.self)
    }
}
