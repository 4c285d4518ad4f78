import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneReports
import BackplaneSwapLoad
import Foundation
import TurnstileContracts

/// The measurement of swaps under one graph of operations that outlasts them all.
///
/// Each node makes one exchange with a server in a separate process, which counts them. After the swaps the graph runs
/// to its end, so that every node can be accounted for.
enum OperationSwaps {
    static let serverMeasure = "count-server"
    /// The number of nodes, fewer than half of which run during two hundred swaps.
    private static let nodes = 10_000

    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let server = ServerProcess([MeasuringChild.command, serverMeasure, folder, folder])
        defer { server.stop() }
        let url = "http://127.0.0.1:\(try await JSONDecoder().decode(UInt16.self, from: server.firstLine()))"
        let library = try RebuiltLibrary(
            of: order.twins(of: "_BenchmarkRounds", in: folder), in: folder + "/host")
        var options = HostOptions(
            loadFolder: loads, dataFolder: folder + "/data", log: StandardErrorLog(level: .error),
            executors: [AsyncHTTPClientExecutor(proxies: .none)])
        options.checksState = false  // a release does not, and a figure of a debug build means nothing anyway
        options.occupationLimit = nil
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: library.path)],
                managers: [
                    "Rounds": ManagerDefinition(
                        className: "RoundManager",
                        communicationController: CommunicationControllerDefinition(
                            className: "RoundCommunication", configuration: ["server": .string(url)]))
                ]), options: options)
        do {
            let figures = try await figures(order, host, library, url)
            await host.stop()
            return figures
        } catch {
            await host.stop()
            throw error
        }
    }

    private static func figures(
        _ order: SwapMeasure.Order, _ host: PluginHost, _ library: RebuiltLibrary, _ url: String
    ) async throws -> [String: Double] {
        let client = HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)])
        let rounds: Remote<Turnstile> = try await host.manager("Rounds")
        _ = try await rounds.pass(nodes, host.begin())
        var times: [Double] = []
        for number in 1...order.count {
            try library.build(1 + number % 2)
            let start = ContinuousClock.now
            let report = try await host.swap(library: library.path, SwapOptions(trustsLibraries: true))
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            guard report.outcome == .swapped, report.warnings.isEmpty else {
                throw BackplaneError(
                    .swapFailed,
                    "expected the other edition to continue the graph, found: \(report.outcome) \(report.warnings)")
            }
        }
        let during = try await counts(of: url, client), isRunning = !host.operations.all.isEmpty
        _ = try await client.send(HTTPRequest("POST", url + "/hurry"))
        let result = try await rounds.pass(0, host.begin()).count
        let counts = try await counts(of: url, client)
        return [
            "nodes": Double(counts.count), "during": Double(during.count),
            "lost": Double(nodes - counts.count), "twice": Double(counts.values.reduce(0) { $0 + $1 - 1 }),
            "values lost": Double(nodes - result), "ended": isRunning ? 0 : 1,
            "median": Sample(times).median,
        ]
    }

    /// Returns the number of requests of each node, by its path.
    private static func counts(of url: String, _ client: HTTPPipeline) async throws -> [String: Int] {
        let body = try await client.send(HTTPRequest("GET", url + "/counts")).body
        return try JSONDecoder().decode([String: Int].self, from: Data(body))
    }

    /// Serves in a child process until its parent has ended.
    static func serve() async throws {
        let server = try BenchServer(), parent = getppid()
        server.run()
        FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
        while getppid() == parent { try await Task.sleep(for: .seconds(1)) }
    }
}
