import Backplane
import BackplaneHost
import BackplaneTools
import BenchmarkContracts
import FoundationEssentials

// The cost of calls across the boundary, compared with the same calls in a single program.
//
// The provider is in a loaded library, and is called through the public API with a call frame. The direct calls go
// through a Swift existential, are not inlined, and throw the same errors. The struct contains a number, a string of 31
// bytes and a list.
extension BenchSuite {
    static let calls = BenchSuite(name: "calls") { folder in
        let plugins = try await BenchmarkHost(in: folder), direct = makeDirectBenchmark(), call = plugins.call
        let benchmark = plugins.benchmark, earlier = plugins.earlier, relay = plugins.relay
        return Opened([
            .calls("native call", target: .ratio(atMost: 1.3), beside: "direct call") {
                try await DirectCalls.add(direct, $0)
            } _: {
                try await HostCalls.add(benchmark, call, $0)
            },
            .calls("native call with a struct", target: .ratio(atMost: 1.5), beside: "direct call with a struct") {
                try await DirectCalls.next(direct, $0)
            } _: {
                try await HostCalls.next(benchmark, call, $0)
            },
            .calls("native call from a plugin", target: .ratio(atMost: 1.3), beside: "direct call") {
                try await DirectCalls.add(direct, $0)
            } _: {
                try await relay.add($0, call)
            },
            .calls("native call, 8 callers", target: .ratio(atMost: 1.3 / 0.9), beside: "direct call, 8 callers") {
                try await Measurement.together(8, $0) { try await DirectCalls.add(direct, $0) }
            } _: {
                try await Measurement.together(8, $0) { try await HostCalls.add(benchmark, call, $0) }
            },
            .calls(
                "encoded call with a struct", .microseconds, target: .ratio(atMost: 1.15),
                beside: "Foundation's coders, there and back"
            ) {
                try DirectCalls.code($0)
            } _: {
                try await HostCalls.nextEncoded(earlier, call, $0)
            },
        ]) { await plugins.host.stop() }
    }
}

/// A started host with the library `Benchmark`, and its managers.
struct BenchmarkHost: Sendable {
    let host: PluginHost
    let benchmark: Remote<Benchmark>
    let earlier: Remote<EarlierBenchmark>
    let relay: Remote<Relay>
    /// The frame of the host's calls.
    let call: Call

    /// Starts the host, with a folder for copies of libraries and for data.
    init(in folder: String) async throws {
        host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: "Benchmark")],
                managers: [
                    "Benchmark": ManagerDefinition(className: "BenchmarkManager"),
                    "Relay": ManagerDefinition(className: "RelayManager", uses: ["benchmark": "Benchmark"]),
                ]), options: Self.options(in: folder))
        do {
            (benchmark, earlier) = (try await host.manager("Benchmark"), try await host.manager("Benchmark"))
            relay = try await host.manager("Relay")
        } catch {
            await host.stop()
            throw error
        }
        call = host.begin()
    }

    static func options(in folder: String, lanes: LaneRule = .fastest) -> HostOptions {
        var options = HostOptions(
            loadFolder: folder + "/load", dataFolder: folder + "/data", log: StandardErrorLog(level: .error),
            lanes: lanes)
        options.occupationLimit = nil  // calls intentionally occupy the pool here
        return options
    }
}

/// The measured loops, written like the calls of a host program: the result of each call is the input of the next.
private enum HostCalls {
    @inline(never)
    static func add(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await benchmark.add(number, call) }
        return number
    }

    @inline(never)
    static func next(_ benchmark: Remote<Benchmark>, _ call: Call, _ count: Int) async throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await benchmark.next(parcel, call) }
        return parcel.id
    }

    @inline(never)
    static func nextEncoded(_ benchmark: Remote<EarlierBenchmark>, _ call: Call, _ count: Int)
        async throws(BackplaneError) -> Int
    {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await benchmark.next(parcel, call) }
        return parcel.id
    }
}

/// The loops of ``HostCalls`` without a boundary.
private enum DirectCalls {
    @inline(never)
    static func add(_ benchmark: any DirectBenchmark, _ count: Int) async throws(BackplaneError) -> Int {
        var number = 0
        for _ in 0..<count { number = try await benchmark.add(number) }
        return number
    }

    @inline(never)
    static func next(_ benchmark: any DirectBenchmark, _ count: Int) async throws(BackplaneError) -> Int {
        var parcel = Parcel.first
        for _ in 0..<count { parcel = try await benchmark.next(parcel) }
        return parcel.id
    }

    /// Encodes and decodes input and output like an encoded call, with coders that are created once.
    @inline(never)
    static func code(_ count: Int) throws -> Int {
        let encoder = JSONEncoder(), decoder = JSONDecoder()
        var parcel = Parcel.first
        for _ in 0..<count {
            var received = try decoder.decode(Parcel.self, from: try encoder.encode(parcel))
            received.id += 1
            parcel = try decoder.decode(Parcel.self, from: try encoder.encode(received))
        }
        return parcel.id
    }
}
