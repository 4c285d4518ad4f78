import ArgumentParser
import Backplane
import BackplaneHost
import BackplaneTools

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

    /// Returns the settings of the server of a host, whose manifest is loaded; `nil` if it is to have none.
    func settings(for host: PluginHost) -> ServerSettings? {
        let own = host.routing.table.server
        guard let serve else { return own }
        var settings = own ?? ServerSettings()
        settings.listen = serve
        return settings
    }

    /// Returns the problems of a host's manifest; routes that clash are errors if they are to be served.
    func problems(of host: PluginHost) async -> [Problem] {
        let problems = await host.check()
        guard settings(for: host) != nil else { return problems }
        return problems.map { problem in
            var problem = problem
            if problem.error.code == .routeClash { problem.severity = .error }
            return problem
        }
    }

    /// Starts the server of a host that has started; returns `nil` if it is to have none.
    ///
    /// - Parameter reloadsPages: Whether pages in browsers can have themselves loaded again after a change.
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
    /// Stops the server in order, which takes no longer than a limit, or otherwise than the host's own.
    var stop: @Sendable (_ limit: Duration?) async -> Void

    /// The remark for a server without routes.
    static let noRoutes =
        "the server has no routes: no mounted manager that provides the contract HTTPRoutes (`RouteManager`) can start"
}
