import Backplane
import BackplaneExchange
import BackplaneHTTP
import BackplaneNetwork

// The cost of HTTP exchanges, compared with AsyncHTTPClient without Backplane: the processor time of this process for
// each exchange. The server is another process, on loopback.
extension BenchSuite {
    static let http = BenchSuite(name: "http") { folder in
        let server = try await Child.Server<BenchServer.Ports>("server", in: folder), bare = BareHTTP()
        let plugin = try await LinkedHost(executors: [AsyncHTTPClientExecutor(proxies: .none)], in: folder)
        let program = HTTPPipeline([AsyncHTTPClientExecutor(proxies: .none)]), client = HTTPClient(program)
        let url = server.ports.bytes(1_024), volumes = BenchLibrary(count: 15).volumes.count
        var library = Endpoint<BenchLibrary>("GET", server.ports.library)
        library.allowsFullURL = true

        func exchanges(
            _ name: String, target: Double, _ exchange: @escaping @Sendable () async throws -> Int
        ) -> Measurement {
            .calls(
                name, .microseconds, by: .processor, target: .ratio(atMost: target), beside: "AsyncHTTPClient",
                { try await count($0) { try await bare.get(url).count == 1_024 } },
                { try await count($0) { try await exchange() == 1_024 } })
        }
        return Opened([
            exchanges("exchange of 1 KB, program", target: 1.15) {
                try await program.send(HTTPRequest("GET", url)).body.count
            },
            exchanges("exchange of 1 KB, plugin", target: 1.3) {
                try await plugin.network.http.send(HTTPRequest("GET", url), plugin.network.begin()).body.count
            },
            .calls(
                "load of 1 KB of JSON", .microseconds, by: .processor, target: .ratio(atMost: 1.2),
                beside: "AsyncHTTPClient and JSONDecoder"
            ) {
                let url = server.ports.library
                return try await count($0) {
                    try await bare.load(BenchLibrary.self, url).volumes.count == volumes
                }
            } _: { [library] in
                try await count($0) { try await client.load(library).volumes.count == volumes }
            },
        ]) {
            await plugin.stop()
            await bare.shutdown()
            server.stop()
        }
    }

    /// Repeats an operation, and returns how often it succeeded.
    private static func count(
        _ count: Int, _ once: @Sendable () async throws -> Bool
    ) async throws -> Int {
        var succeeded = 0
        for _ in 0..<count where try await once() { succeeded += 1 }
        return succeeded
    }
}
