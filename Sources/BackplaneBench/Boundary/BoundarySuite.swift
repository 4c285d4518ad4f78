import Backplane
import BackplaneHost
import BenchmarkContracts
import BenchmarkDirect

// The cost of calls across the boundary, compared with the same calls in a single program.
//
// The provider is in a loaded library, and is called through the public API with a call frame. The direct calls go
// through a Swift existential, are not inlined, and throw what the others throw. The struct contains a number, a string
// of 31 bytes and a list.
extension BenchSuite {
    static let boundary = BenchSuite(name: BoundaryRows.suite, reference: BoundaryRows.reference) { folder in
        let plugins = try await BenchmarkHost(in: folder + "/calls")
        let atomic: BenchmarkHost
        do { atomic = try await BenchmarkHost(in: folder + "/atomic", counting: .atomic) } catch {
            await plugins.host.stop()
            throw error
        }
        let rows = BoundaryRows(plugins: plugins, atomic: atomic, direct: makeDirectBenchmark(), tally: DirectTally())
        return Opened(
            rows: rows.asynchronous + rows.synchronous + rows.withAtomics + rows.allocations + rows.parallel
                + rows.actor + rows.encoded + rows.lookUp
                + [WiringRow.make(in: folder + "/wiring")] + rows.flips
        ) {
            await plugins.host.stop()
            await atomic.host.stop()
        }
    }
}

/// The rows of the boundary suite.
struct BoundaryRows {
    static let suite = "boundary"
    static let reference = "direct async Int → Int"

    var plugins: BenchmarkHost
    /// A host like the other one, but without restartable sequences.
    var atomic: BenchmarkHost
    var direct: any DirectBenchmark
    var tally: DirectTally

    /// The rows of async calls, from the host and from another plugin, whose calls take a longer path.
    var asynchronous: [Row] {
        let plugins = plugins, direct = direct, call = plugins.call
        let int = Self.reference, parcel = "direct async struct"
        return [
            .calls(int) { try await DirectCalls.add(direct, $0) },
            .calls("native async Int → Int, host, key path", baseline: int, target: .ratio(atMost: 1.3)) {
                try await HostCalls.add(plugins.benchmark, call, $0)
            },
            .calls("native async Int → Int, host, held", baseline: int, target: .ratio(atMost: 1.3)) {
                try await HostCalls.addHeld(plugins.benchmark, call, $0)
            },
            .calls("native async Int → Int, host, no frame", baseline: int) {
                try await HostCalls.addWithoutFrame(plugins.benchmark, $0)
            },
            .calls("native async Int → Int, plugin to plugin, key path", baseline: int, target: .ratio(atMost: 1.3)) {
                try await plugins.relay.add($0, call)
            },
            .calls("native async Int → Int, plugin to plugin, held", baseline: int, target: .ratio(atMost: 1.3)) {
                try await plugins.relay.addHeld($0, call)
            },
            .calls(parcel) { try await DirectCalls.next(direct, $0) },
            .calls("native async struct, host, key path", baseline: parcel, target: .ratio(atMost: 1.5)) {
                try await HostCalls.next(plugins.benchmark, call, $0)
            },
            .calls("native async struct, host, held", baseline: parcel, target: .ratio(atMost: 1.5)) {
                try await HostCalls.nextHeld(plugins.benchmark, call, $0)
            },
            .calls("native async struct, plugin to plugin, key path", baseline: parcel, target: .ratio(atMost: 1.5)) {
                try await plugins.relay.next($0, call)
            },
            .calls("native async struct, plugin to plugin, held", baseline: parcel, target: .ratio(atMost: 1.5)) {
                try await plugins.relay.nextHeld($0, call)
            },
        ]
    }

    var synchronous: [Row] {
        let plugins = plugins, direct = direct, call = plugins.call
        let int = "direct sync Int → Int", parcel = "direct sync struct"
        return [
            .calls(int) { try DirectCalls.addNow(direct, $0) },
            .calls("native sync Int → Int", baseline: int, target: .ratio(atMost: 1.25)) {
                try HostCalls.addNow(plugins.benchmark, call, $0)
            },
            .calls(parcel) { try DirectCalls.nextNow(direct, $0) },
            .calls("native sync struct", baseline: parcel, target: .ratio(atMost: 2)) {
                try HostCalls.nextNow(plugins.benchmark, call, $0)
            },
        ]
    }

    /// The rows of calls on systems without restartable sequences.
    var withAtomics: [Row] {
        let atomic = atomic, call = atomic.call
        let int = Self.reference, parcel = "direct async struct"
        return [
            .calls("atomic leases, async Int → Int, host, key path", baseline: int) {
                try await HostCalls.add(atomic.benchmark, call, $0)
            },
            .calls("atomic leases, async Int → Int, host, held", baseline: int) {
                try await HostCalls.addHeld(atomic.benchmark, call, $0)
            },
            .calls("atomic leases, async Int → Int, plugin to plugin, key path", baseline: int) {
                try await atomic.relay.add($0, call)
            },
            .calls("atomic leases, async Int → Int, plugin to plugin, held", baseline: int) {
                try await atomic.relay.addHeld($0, call)
            },
            .calls("atomic leases, async struct, host, key path", baseline: parcel) {
                try await HostCalls.next(atomic.benchmark, call, $0)
            },
            .calls("atomic leases, async struct, host, held", baseline: parcel) {
                try await HostCalls.nextHeld(atomic.benchmark, call, $0)
            },
            .calls("atomic leases, async struct, plugin to plugin, key path", baseline: parcel) {
                try await atomic.relay.next($0, call)
            },
            .calls("atomic leases, async struct, plugin to plugin, held", baseline: parcel) {
                try await atomic.relay.nextHeld($0, call)
            },
            .calls("atomic leases, sync Int → Int", baseline: "direct sync Int → Int") {
                try HostCalls.addNow(atomic.benchmark, call, $0)
            },
            .calls("atomic leases, sync struct", baseline: "direct sync struct") {
                try HostCalls.nextNow(atomic.benchmark, call, $0)
            },
        ]
    }

    var flips: [Row] {
        [
            FlipRow.make("flip with drain, idle", plugins, callers: 0, target: .median(atMost: 50)),
            FlipRow.make("flip with drain, 4 callers", plugins, callers: 4, target: .median(atMost: 1_000)),
            FlipRow.make("flip with drain after a pause, 4 callers", plugins, callers: 4, pause: .milliseconds(1)),
        ]
    }

    /// The rows of heap allocations; the encoded row has no bound, and shows that allocations are counted.
    var allocations: [Row] {
        let plugins = plugins, call = plugins.call
        return [
            HeapRow.make("allocations, native async Int", in: Self.suite) {
                try await HostCalls.add(plugins.benchmark, call, $0)
            },
            HeapRow.make("allocations, native async struct", in: Self.suite) {
                try await HostCalls.next(plugins.benchmark, call, $0)
            },
            HeapRow.make("allocations, plugin to plugin", in: Self.suite) { try await plugins.relay.add($0, call) },
            HeapRow.make("allocations, native sync Int", in: Self.suite) {
                try HostCalls.addNow(plugins.benchmark, call, $0)
            },
            HeapRow.make("allocations, encoded struct", in: Self.suite, target: nil) {
                try await HostCalls.nextEncoded(plugins.earlier, call, $0)
            },
        ]
    }

    /// The rows of concurrent callers on one binding, compared with direct calls on the same number of cores.
    var parallel: [Row] {
        let plugins = plugins, direct = direct, call = plugins.call
        return [2, 8].flatMap { callers -> [Row] in
            let async = "direct async, \(callers) callers", sync = "direct sync, \(callers) callers"
            return [
                .scaling(async, callers: callers) { try await DirectCalls.add(direct, $0) },
                .scaling(
                    "native async, \(callers) callers", callers: callers, baseline: async, target: .ratio(atLeast: 0.9)
                ) {
                    try await HostCalls.add(plugins.benchmark, call, $0)
                },
                .scaling(sync, callers: callers) { try DirectCalls.addNow(direct, $0) },
                .scaling(
                    "native sync, \(callers) callers", callers: callers, baseline: sync, target: .ratio(atLeast: 0.9)
                ) {
                    try HostCalls.addNow(plugins.benchmark, call, $0)
                },
            ]
        }
    }

    var actor: [Row] {
        let plugins = plugins, tally = tally, call = plugins.call
        return [
            .calls("direct actor Int → Int") { try await DirectCalls.tally(tally, $0) },
            .calls("native actor Int → Int", baseline: "direct actor Int → Int", target: .ratio(atMost: 1.3)) {
                try await HostCalls.tally(plugins.tally, call, $0)
            },
        ]
    }

    var encoded: [Row] {
        let plugins = plugins, call = plugins.call
        return [
            .calls("Foundation's coders, struct there and back", unit: .microseconds) { try DirectCalls.code($0) },
            .calls(
                "encoded async struct", unit: .microseconds, baseline: "Foundation's coders, struct there and back",
                target: .ratio(atMost: 1.15)
            ) {
                try await HostCalls.nextEncoded(plugins.earlier, call, $0)
            },
        ]
    }

    var lookUp: [Row] {
        let host = plugins.host
        return [
            .calls("look-up by name, started", target: .scaledMedian(atMost: 80)) { count in
                for _ in 0..<count { _ = try await host.manager("Benchmark", as: Benchmark.self) }
                return count
            }
        ]
    }
}
