import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneHummingbird
import BackplaneScreens
import BackplaneTools
import Foundation
import Hummingbird

/// The server process of the rows of sessions, which shows the screens of a plugin.
enum ScreenRig {
    static let serverMeasure = "screens-server"
    /// The number of rows that each session shows.
    static let rows = 10

    /// The ports of the screens, and of the routes that only the measurement uses.
    struct Ports: Codable, Sendable { var screens, control: UInt16 }

    /// Returns a host whose windows begin with a list of the plugin.
    static func host(_ lanes: LaneRule, rows: Int, in folder: String) async throws -> PluginHost {
        var options = HostOptions(
            loadFolder: folder + "/loads", dataFolder: folder + "/data", log: StandardErrorLog(level: .error),
            lanes: lanes)
        options.occupationLimit = nil  // screens intentionally occupy the pool here
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: "BenchmarkScreens")],
                managers: ["Books": ManagerDefinition(className: "BookScreens")],
                screens: ScreenSettings(root: try Destination("books", ["rows": rows]))), options: options)
        try await host.start()
        return host
    }

    /// Serves in a child process until its parent has ended.
    static func serve(in folder: String) async throws {
        let screens = WebScreens(AppManager(try await host(.fastest, rows: rows, in: folder)), limit: 400)
        let server = HostServer(screens, ServerSettings(listen: "127.0.0.1:0"))
        let run = Task { try await server.run() }
        let port = UInt16(try await server.listening().split(separator: ":").last ?? "") ?? 0
        let control = Router()
        control.get("/sign-in") { _, _ in screens.signInAddress(at: "") }
        control.get("/memory") { _, _ in "\(try ProcessMemory.privateDirty())" }
        try await RouteRig.announce(Ports(screens: port, control: try await RouteRig.listen(control)))
        run.cancel()
    }
}
