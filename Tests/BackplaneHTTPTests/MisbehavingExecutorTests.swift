import Backplane
import BackplaneConformance
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import Foundation
import Testing

/// Executors of plugins that hang, or that misuse `backplane.bodies/1`.
@Suite(.timeLimit(.minutes(5)))
struct MisbehavingExecutorTests {
    @Test(arguments: [LaneRule.fastest, .encoded])
    func `one that never says what it can do is ended by the limits of the exchange, and told so`(lanes: LaneRule)
        async throws
    {
        let asked = Counted(), ended = Counted()
        try await RelayHost.with(
            script: { _, _, _ in Issue.record("it has an order") },
            capabilities: {
                asked.add(1)
                defer { ended.add(1) }
                try await Task.sleep(for: .seconds(3_600))
                return .all
            }, lanes: lanes
        ) { relay in
            for isHead in [true, false] {
                try await relay.withLimit(reaching: asked, ended) { limit in
                    var options = HTTPOptions()
                    if isHead { options.headTimeout = limit } else { options.totalTimeout = limit }
                    #expect(await relay.failure("relay:books", options)?.code == .networkTimeout)
                }
            }
            try await relay.withLimit(reaching: asked, ended) { limit in
                let deadline = await #expect(throws: BackplaneError.self) {
                    try await relay.context.http.open(
                        HTTPRequest("GET", "relay:books"), relay.context.begin(within: limit))
                }
                #expect(deadline?.code == .callDeadline)
            }
        }
    }

    /// Sends a head and one chunk, and then nothing more.
    private static func halting(_ ended: @escaping @Sendable () -> Void) -> ScriptedExecutor.Script {
        { context, order, heads in
            defer { ended() }
            try await context.execute(order, heads) { _, _ in
                HTTPStreamedResponse(status: 200, body: HTTPBodyStream(HaltingChunks()))
            }
        }
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `one that hangs within a body is ended by the limits of the exchange, and told so`(lanes: LaneRule)
        async throws
    {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        try await RelayHost.with(script: Self.halting { end.yield() }, lanes: lanes) { relay in
            var options = HTTPOptions()
            options.readTimeout = .milliseconds(100)
            #expect(await relay.failure("relay:books", options)?.code == .networkTimeout)
            _ = await ended.first { _ in true }
        }
        try await RelayHost.with(script: Self.halting { end.yield() }, lanes: lanes) {
            $0.exchangeIdleLimit = .milliseconds(100)
        } _: { relay in
            let error = await relay.failure()
            #expect(error?.code == .networkTimeout)
            #expect(error?.message == "the server sent none of the body for 0.1 seconds")
            _ = await ended.first { _ in true }
        }
    }

    @Test(arguments: [
        ("push-twice", "the previous piece has not been consumed yet; wait for its answer before the next push"),
        ("push-large", "a piece may have at most 262144 bytes, but this one has 262145"),
        ("push-unknown", "there is no body with this number, or its exchange has ended"),
        ("push-foreign", "there is no body with this number, or its exchange has ended"),
        ("push-late", "there is no body with this number, or its exchange has ended"),
        ("pull-twice", "the body is being pulled; wait for the answer before the next pull"),
        ("pull-unknown", "there is no body with this number, or its exchange has ended"),
        ("pull-foreign", "there is no body with this number, or its exchange has ended"),
    ])
    func `misuse of bodies is answered with an error, and has no other effect`(mistake: String, words: String)
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "misbehaving-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let host = PluginHost(
            manifest: Manifest(
                plugins: [
                    PluginReference(
                        library: try ExecutorInC.compile("1.0.0", of: "MisbehavingExecutor/executor", in: folder))
                ],
                managers: ["MisbehavingExecutor": ManagerDefinition(className: "MisbehavingExecutor")],
                network: NetworkSettings(executors: ["misbehaving": "MisbehavingExecutor"])),
            options: HostOptions(
                loadFolder: folder + "/loads", dataFolder: folder + "/data", occupationLimit: nil))
        try await host.start()
        // A body that is not there yet, so that a pull is not answered.
        let (chunks, chunk) = AsyncStream<[UInt8]>.makeStream()
        defer { chunk.finish() }
        let error = await #expect(throws: BackplaneError.self) {
            try await host.network.send(HTTPRequest("POST", "misbehaving:\(mistake)", body: .stream(chunks)))
        }
        #expect(error?.code == .networkBody && error?.message == words, "\(String(describing: error))")
        await host.stop()
    }
}

/// One chunk, and then none until the task is cancelled.
struct HaltingChunks: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        var hasBegun = false

        mutating func next() async throws -> [UInt8]? {
            guard hasBegun else {
                hasBegun = true
                return Array("half".utf8)
            }
            try await Task.sleep(for: .seconds(3_600))
            return nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator() }
}
