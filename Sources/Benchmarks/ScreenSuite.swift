import Backplane
import BackplaneApp
import BackplaneHost
import BackplaneHummingbird
import BackplaneScreens
import Hummingbird

// The cost of showing screens: a list as a page, a change of one row, and many sessions at once.
//
// The lists of 1,000 rows are in windows of this process. The sessions are connections to a server in another process,
// and receive changes as a browser does (`ScreenLoad`). Sessions and server share the processors.
extension BenchSuite {
    static let screens = BenchSuite(name: "screens") { folder in
        let native = try await ShownList(.fastest, in: folder + "/native")
        let encoded = try await ShownList(.encoded, in: folder + "/encoded")
        let name = "list of \(ShownList.rows) rows", sessions = "\(ScreenLoad.sessions) sessions"
        let change = "\(name), one changed, event to patch"
        return Opened([
            .durations("\(name) as HTML", target: .atMost(20)) { try native.render() },
            .durations("\(change), native", count: 20, target: .atMost(5)) { try await native.change() },
            .durations("\(change), encoded", count: 20, target: .atMost(5)) { try await encoded.change() },
            Measurement(
                rows: [
                    Row("\(name), one changed, sent", .bytes, target: .atMost(2_048)),
                    Row("\(sessions), 100 events a second, p99", .milliseconds, target: .atMost(50)),
                    Row("\(sessions), memory of one", .kilobytes, target: .atMost(200)),
                ], rounds: 3, count: 1_000
            ) { presses in
                let server = try await Child.Server<ScreenServer.Ports>("screens", in: folder + "/sessions")
                defer { server.stop() }
                return try await ScreenLoad.figures(ofPresses: presses, server.ports)
            },
        ]) {
            await native.close()
            await encoded.close()
        }
    }
}

/// The server of sessions, in a child.
enum ScreenServer {
    /// The number of rows that each session shows.
    static let rows = 10

    /// The ports of the screens, and of routes for the measurement.
    struct Ports: Codable, Sendable { var screens, control: Int }

    /// Returns a host whose windows begin with a list of the plugin.
    static func host(_ lanes: LaneRule, rows: Int, in folder: String) async throws -> PluginHost {
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: "Benchmark")],
                managers: ["Books": ManagerDefinition(className: "BookScreens")],
                screens: ScreenSettings(root: try Destination("books", ["rows": rows]))),
            options: BenchmarkHost.options(in: folder, lanes: lanes))
        try await host.start()
        return host
    }

    static func serve(in folder: String) async throws {
        let screens = WebScreens(AppManager(try await host(.fastest, rows: rows, in: folder)), limit: 400)
        let server = HostServer(screens, ServerSettings(listen: "127.0.0.1:0"))
        let run = Task { try await server.run() }
        let port = Int(try await server.listening().split(separator: ":").last ?? "") ?? 0
        let control = Router()
        control.get("/sign-in") { _, _ in screens.signInAddress(at: "") }
        control.get("/memory") { _, _ in "\(try ProcessMemory.bytes("Private_Dirty"))" }
        try await Child.announce(Ports(screens: port, control: try await BenchServer.listen(control)))
        run.cancel()
    }
}

/// A window that shows a list of a plugin, and its rendering as a page.
private struct ShownList: Sendable {
    static let rows = 1_000
    private let host: PluginHost
    private let window: Window
    private let screen: Int
    private let rendering = HTMLRendering(
        HTMLRendering.Addresses(
            screen: { "/screens/\($0.screen)" }, image: { "/image?key=\($0)" }, tab: { "/tabs/\($0)" }, back: "/back",
            form: "/event"), token: "")

    init(_ lanes: LaneRule, in folder: String) async throws {
        host = try await ScreenServer.host(lanes, rows: Self.rows, in: folder)
        do {
            window = try await AppManager(host).makeWindow()
            screen = window.drawing.front?.number ?? 0
        } catch {
            await host.stop()
            throw error
        }
    }

    func close() async {
        await window.close()
        await host.stop()
    }

    /// Renders the whole window, and returns the duration.
    func render() throws -> Duration {
        let drawing = window.drawing, start = ContinuousClock.now
        let size = rendering.content(of: drawing).utf8.count
        guard size > Self.rows * 100 else { throw Miscount(name: "a page", expected: Self.rows * 100, found: size) }
        return ContinuousClock.now - start
    }

    /// Changes a row, and returns the time from the event to the patch.
    func change() async throws -> Duration {
        let start = ContinuousClock.now, before = window.drawing
        await window.send(ViewEvent(.press, "borrow", rows: ["\(Int.random(in: 0..<Self.rows))"]), to: screen)
        let patches = rendering.patches(from: before, to: window.drawing)
        guard patches.count == 1 else { throw Miscount(name: "a change of one row", expected: 1, found: patches.count) }
        return ContinuousClock.now - start
    }
}
