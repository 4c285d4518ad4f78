import Backplane
import BackplaneHost
import BackplaneHummingbird
import BackplaneTools
import BenchmarkContracts
import Foundation
import Hummingbird
import Logging
import NIOCore

/// The server process of the rows of routes.
struct RouteRig: Sendable {
    /// The servers that are compared.
    enum Server: String, Codable, CaseIterable {
        /// A Hummingbird application without plugins.
        case direct = "direct in Hummingbird"
        case native = "native"
        case encoded = "encoded"
    }
    static let serverMeasure = "routes-server"
    private let ports: [String: UInt16]
    private let server: ServerProcess

    init(in folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        server = ServerProcess([MeasuringChild.command, Self.serverMeasure, folder, folder + "/loads"])
        ports = try await JSONDecoder().decode([String: UInt16].self, from: server.firstLine())
    }

    func stop() { server.stop() }

    func port(of server: Server) throws(BackplaneError) -> UInt16 {
        guard let port = ports[server.rawValue] else {
            throw BackplaneError(.componentFailed, "the server does not listen", at: server.rawValue)
        }
        return port
    }

    /// Serves in a child process until its parent has ended.
    static func serve(in folder: String, loads: String) async throws {
        let native = try await host(.fastest, folder, loads), encoded = try await host(.encoded, folder, loads)
        let direct = Router()
        direct.get("/books/:id") { request, context in
            let book = RoutedBook(try context.parameters.require("id", as: Int.self))
            return try context.responseEncoder.encode(book, from: request, context: context)
        }
        let ports: [Server: UInt16] = [
            .direct: try await listen(direct), .native: try await listen(router(of: native)),
            .encoded: try await listen(router(of: encoded)),
        ]
        try await announce(Dictionary(uniqueKeysWithValues: ports.map { ($0.key.rawValue, $0.value) }))
    }

    private static func host(_ lanes: LaneRule, _ folder: String, _ loads: String) async throws -> PluginHost {
        let name = lanes == .encoded ? "encoded" : "native"
        var options = HostOptions(
            loadFolder: "\(loads)/\(name)", dataFolder: "\(folder)/data-\(name)", log: StandardErrorLog(level: .error),
            lanes: lanes)
        options.occupationLimit = nil  // routes intentionally occupy the pool here
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: "BenchmarkRoutes")],
                managers: [
                    "Books": ManagerDefinition(className: "BookRoutes"),
                    "Blocking": ManagerDefinition(className: "BlockingRoutes"),
                ]), options: options)
        try await host.start()
        return host
    }

    /// Returns a router with the routes of a host's plugins.
    static func router(of host: PluginHost) -> Router<BasicRequestContext> {
        Router(context: BasicRequestContext.self).add(middleware: HostRoutes<BasicRequestContext>(host))
    }

    /// Runs an application until the process ends, and returns its port.
    static func listen(_ router: Router<BasicRequestContext>) async throws -> UInt16 {
        let (ports, bound) = AsyncThrowingStream.makeStream(of: UInt16.self)
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in bound.yield(UInt16(channel.localAddress?.port ?? 0)) },
            logger: Logger(label: "routes") { _ in SwiftLogNoOpLogHandler() })
        Task {
            do {
                try await application.run()
                bound.finish()
            } catch {
                bound.finish(throwing: error)
            }
        }
        for try await port in ports { return port }
        throw BackplaneError(.componentFailed, "an application stopped before it served")
    }

    /// Prints a value as a line of JSON, and waits until this process's parent has ended.
    static func announce(_ ports: some Encodable) async throws {
        let parent = getppid()
        FileHandle.standardOutput.write(try JSONEncoder().encode(ports) + Data("\n".utf8))
        while getppid() == parent { try await Task.sleep(for: .seconds(1)) }
    }
}
