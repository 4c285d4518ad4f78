import ArgumentParser
import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneHummingbird
import BackplaneScreens
import BackplaneTools
import Foundation

/// The option of commands that serve the routes of the host that they create.
struct ServeArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Serve the routes of the managers over HTTP at an address such as 127.0.0.1:8080 (default: the manifest's \
            `server`, if it has one).
            """,
            valueName: "address"))
    var serve: String?

    /// The given options as words of a command line.
    var words: [String] { serve.map { ["--serve=\($0)"] } ?? [] }

    func validate() throws {
        guard let serve else { return }
        do throws(BackplaneError) {
            _ = try ServerSettings.address(serve)
        } catch {
            throw ValidationError("--serve: \(error.message)")
        }
    }

    /// Requires that the option is not given, because the command does not create the host.
    func requireNone() throws {
        guard serve != nil else { return }
        throw ValidationError("--serve applies to a host that this command creates, not to a running one")
    }

    /// Returns the settings of the server of a host with a loaded manifest; `nil` if the host has no server.
    func settings(for host: PluginHost) -> ServerSettings? {
        let own = host.routing.table.server
        guard let serve else { return own }
        var settings = own ?? ServerSettings()
        settings.listen = serve
        return settings
    }

    /// Returns the problems of a host's manifest; conflicting routes are errors if the host has a server.
    func problems(of host: PluginHost) async -> [Problem] {
        let problems = await host.check()
        guard settings(for: host) != nil else { return problems }
        return problems.map { problem in
            var problem = problem
            if problem.error.code == .routeClash { problem.severity = .error }
            return problem
        }
    }

    /// Starts the server of a host that has started; returns `nil` if the host has no server.
    ///
    /// - Parameter reloadsPages: Whether pages in browsers reload themselves after a change.
    /// - Throws: `server.failed`.
    func begin(_ host: PluginHost, reloadsPages: Bool = false) async throws(BackplaneError) -> RunningServer? {
        guard let settings = settings(for: host) else { return nil }
        return try await Engines.serve(host, settings, reloadsPages: reloadsPages)
    }
}

/// A server of a host that a command has started.
struct RunningServer: Sendable {
    /// The URL at which it serves, such as `http://127.0.0.1:8080`.
    var url: String
    /// The number of routes that it has mounted.
    var routes: Int
    /// Stops the server gracefully within a limit, by default the host's own.
    var stop: @Sendable (_ limit: Duration?) async -> Void

    /// The remark for a server without routes.
    static let noRoutes =
        "the server has no routes: no mounted manager that provides the contract HTTPRoutes (`RouteManager`) can start"
}

/// The options of commands that show the screens of the host that they create in browsers.
struct ScreenArguments: ParsableArguments {
    @Flag(help: "Show the screens in browsers, and print an address that signs one browser in.") var web = false
    @Option(
        help: ArgumentHelp(
            "The address of the screens for browsers (default: \(ScreenArguments.standard)); implies --web.",
            valueName: "address"))
    var webAddress: String?

    /// The default address.
    private static let standard = "127.0.0.1:8080"

    /// The address of the screens; `nil` if they are not shown in browsers.
    var address: String? { webAddress ?? (web ? Self.standard : nil) }

    /// The given options as words of a command line.
    var words: [String] { address.map { ["--web-address=\($0)"] } ?? [] }

    func validate() throws {
        guard let webAddress else { return }
        do throws(BackplaneError) {
            _ = try ServerSettings.address(webAddress)
        } catch {
            throw ValidationError("--web-address: \(error.message)")
        }
    }

    /// Requires that the options are not given, because the command does not create the host.
    func requireNone() throws {
        guard address != nil else { return }
        throw ValidationError("--web applies to a host that this command creates, not to a running one")
    }

    /// Starts the server of an application's screens; returns `nil` if the screens are not served.
    ///
    /// - Parameters:
    ///   - settings: The settings of the host.
    ///   - routes: The settings of the server of its routes, if it has one.
    /// - Throws: `server.failed`.
    func begin(
        _ app: AppManager, _ settings: HostSettings, beside routes: ServerSettings?
    ) async throws(BackplaneError) -> RunningServer? {
        guard let address else { return nil }
        if routes?.listen == address, !address.hasSuffix(":0") {
            throw BackplaneError(
                .serverFailed,
                "the routes are served at \(address); choose another address for the screens with --web-address")
        }
        return try await Engines.show(app, at: address, key: Self.key(settings))
    }

    /// Returns the key of cookies; `nil` if it cannot be stored.
    ///
    /// The key is stored beside the data of the components, so that browsers stay signed in.
    private static func key(_ settings: HostSettings) -> [UInt8]? {
        let size = 32
        guard let folder = try? DataFolder(in: settings.data, manifest: settings.manifest).path,
            (try? PrivateFolder.make(at: folder)) != nil
        else { return nil }
        let path = FilePath.join(folder, "@screens.key")
        if (try? FileStatus(at: path)) == nil {
            let key = (0..<size).map { _ in UInt8.random(in: 0 ... .max) }
            try? FileReplacement.create(path, with: key, mode: 0o600)
        }
        return FileManager.default.contents(atPath: path).flatMap { $0.count == size ? Array($0) : nil }
    }
}

extension PluginHost {
    /// Throws an error with advice if the manifest and its plugins provide no initial screens.
    func requireScreens() async throws(BackplaneError) {
        await loadScreens()
        let table = screens.table
        if let settings = table.settings, settings.root != nil || !settings.tabs.isEmpty || settings.flow != nil {
            return
        }
        guard !table.managers.isEmpty else {
            throw BackplaneError(
                .screenUnknown,
                "there are no screens: no manager that provides the contract Screens (`ScreenManager`) can start")
        }
        let names = table.managers.keys.sorted()
        let list = names.prefix(5).map { "`\($0)`" }.joined(separator: ", ") + (names.count > 5 ? ", …" : "")
        throw BackplaneError(
            .manifestMissingKey,
            "the manifest does not name the screen to begin with; add \"screens\": {\"root\": \"\(names[0])\"}. "
                + "Screens: \(list)")
    }
}
