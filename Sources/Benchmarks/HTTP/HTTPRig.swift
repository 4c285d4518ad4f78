import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import Foundation
import Synchronization

/// The server process of the HTTP rows, and the clients that they compare.
struct HTTPRig: Sendable {
    /// The address of the server.
    private struct Address: Codable {
        var plain: UInt16
        /// The ports of the servers on 127.0.0.1 and the addresses after it.
        var hosts: [UInt16]
    }
    /// The number of serving hosts.
    static let hosts = 50
    static let serverMeasure = "http-server"
    let folder: String
    let bare = BareHTTP()
    /// The client of a program, over HTTP/1.1.
    let client = HTTPPipeline(
        [AsyncHTTPClientExecutor(proxies: .none)],
        credentials: Credentials([
            "fixed": Credential(hosts: ["127.0.0.1"], .bearer(TokenSource(secret: "a token that does not change")))
        ]))
    /// The client of a component.
    let plugin: FetchingCommunication.Context
    /// The client of a component in a host whose exchanges a manager observes.
    let observed: FetchingCommunication.Context
    private let address: Address
    private let host, observedHost: PluginHost
    private let server: ServerProcess

    init(in folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.folder = folder
        server = ServerProcess([MeasuringChild.command, Self.serverMeasure, folder, folder])
        address = try await JSONDecoder().decode(Address.self, from: server.firstLine())
        (host, plugin) = try await Self.start(in: folder, "plain", interceptors: [])
        (observedHost, observed) = try await Self.start(in: folder, "observed", interceptors: ["Observer"])
    }

    /// Starts a host with an observer, and a component that exposes its context.
    private static func start(
        in folder: String, _ name: String, interceptors: [String]
    ) async throws -> (PluginHost, FetchingCommunication.Context) {
        let host = PluginHost(
            manifest: Manifest(
                plugins: [],
                managers: [
                    "Fetching": ManagerDefinition(
                        className: "FetchingManager",
                        communicationController: ComponentDefinition(
                            className: "FetchingCommunication")),
                    "Observer": ManagerDefinition(className: "CountingObserver"),
                ], network: NetworkSettings(interceptors: interceptors.map { NetworkInterceptor($0) })),
            plugins: [FetchingPlugin.self],
            options: HostOptions(
                loadFolder: "\(folder)/load-\(name)", dataFolder: "\(folder)/data-\(name)",
                executors: [AsyncHTTPClientExecutor(proxies: .none)], occupationLimit: nil))
        try await host.start()
        guard let context = FetchingCommunication.context.withLock({ $0.take() }) else {
            throw BackplaneError(.componentFailed, "the component of the HTTP rows did not start")
        }
        return (host, context)
    }

    func stop() async {
        await host.stop()
        await observedHost.stop()
        await bare.shutdown()
        server.stop()
    }

    func url(_ bytes: Int) -> String { "http://127.0.0.1:\(address.plain)/bytes/\(bytes)" }

    /// Returns the URL of JSON of a given size on a host.
    func jsonURL(_ bytes: Int, host: Int = 0) -> String {
        "http://127.0.0.\(host + 1):\(address.hosts[host])/json/\(bytes)"
    }

    /// Serves in a child process until its parent has ended.
    static func serve() async throws {
        let plain = try BenchServer()
        let others = try (2...UInt32(hosts)).map { try BenchServer(address: $0) }
        for server in [plain] + others { server.run() }
        let parent = getppid()
        let address = try JSONEncoder().encode(Address(plain: plain.port, hosts: ([plain] + others).map(\.port)))
        FileHandle.standardOutput.write(address + Data("\n".utf8))
        while getppid() == parent { try await Task.sleep(for: .seconds(1)) }
    }
}
