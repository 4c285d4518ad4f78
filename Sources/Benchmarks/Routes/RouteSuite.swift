import Backplane
import Synchronization

// The cost of a plugin's routes, compared with the same handler in a Hummingbird application without Backplane.
//
// The servers are in one process, and each has a port of its own; the load comes from one thread of this process
// (`RouteLoad`). Each round loads them one after the other, and then in the opposite order, and its figures are those
// of both times.
extension BenchSuite {
    static let routes = BenchSuite(name: "routes") { folder in
        let rig = try await RouteRig(in: folder)
        return Opened(
            rows: RouteRows(rig: rig).all + SwappedRouteRows(in: folder).rows,
            remark: "the load and the server share the processors; swaps of 3 rounds, each in a process of its own"
        ) { rig.stop() }
    }
}

/// The rows of routes that answer, and of routes beside others that block.
struct RouteRows: Sendable {
    private static let connections = 64
    let rig: RouteRig

    var all: [Row] { speed + blocked }

    /// The rows for the requests of 64 connections.
    private var speed: [Row] {
        let rig = rig, name = "\(Self.connections) connections"
        let figures = SharedFigures { count in try await Self.speed(count, rig) }
        func row(
            _ server: String, _ figure: String, _ unit: Row.Unit, baseline: String? = nil, target: Target? = nil
        ) -> Row {
            Row(
                name: "\(name), \(server), \(figure)", unit: unit,
                baseline: baseline.map { "\(name), \($0), \(figure)" },
                target: target, limit: 20_000, count: 20_000, rounds: 9
            ) { try await figures.required("\(server) \(figure)", count: $0) }
        }
        let direct = RouteRig.Server.direct.rawValue, native = RouteRig.Server.native.rawValue,
            encoded = RouteRig.Server.encoded.rawValue
        return [
            row(direct, "requests", .perSecond),
            row(direct, "p99", .milliseconds),
            row(native, "requests", .perSecond, baseline: direct, target: .ratio(atLeast: 0.95)),
            row(native, "p99", .milliseconds, baseline: direct, target: .ratio(atMost: 1.2)),
            row(encoded, "requests", .perSecond, baseline: direct, target: .ratio(atLeast: 0.6)),
            row(encoded, "p99", .milliseconds, baseline: direct),
        ]
    }

    private static func speed(_ count: Int, _ rig: RouteRig) async throws -> [String: Double] {
        let order = RouteRig.Server.allCases
        var outcomes: [RouteRig.Server: RouteLoad.Outcome] = [:]
        for server in order + order.reversed() {
            let load = RouteLoad(port: try rig.port(of: server), path: "/books/7", connections: connections)
            let outcome = try await load.run { $0 < count }
            try outcome.requireAnswers(server.rawValue)
            outcomes[server] = outcomes[server].map { $0 + outcome } ?? outcome
        }
        var figures: [String: Double] = [:]
        for (server, outcome) in outcomes {
            figures["\(server.rawValue) requests"] = outcome.rate
            figures["\(server.rawValue) p99"] = outcome.p99
        }
        return figures
    }

    /// The rows of a route while the handlers of another manager block all threads that they get.
    private var blocked: [Row] {
        let rig = rig, name = "\(Self.connections / 2) connections, p99"
        let figures = SharedFigures { count in try await Self.blocked(count, rig) }
        func row(_ name: String, _ figure: String, baseline: String? = nil, target: Target? = nil) -> Row {
            Row(
                name: name, unit: .milliseconds, baseline: baseline, target: target, limit: 2_000, count: 2_000,
                rounds: 5
            ) { try await figures.required(figure, count: $0) }
        }
        return [
            row("\(name) with nothing blocked", "alone"),
            row(
                "\(name) with another manager blocked", "beside", baseline: "\(name) with nothing blocked",
                target: .ratio(atMost: 2)),
        ]
    }

    private static func blocked(_ count: Int, _ rig: RouteRig) async throws -> [String: Double] {
        let port = try rig.port(of: .native), half = connections / 2
        let books = RouteLoad(port: port, path: "/books/7", connections: half)
        @Sendable func alone() async throws -> RouteLoad.Outcome { try await books.run { $0 < count } }
        func beside() async throws -> RouteLoad.Outcome {
            let blocking = BlockingLoad()
            async let other = RouteLoad(port: port, path: "/block", connections: half).run { blocking.goesOn($0) }
            while !blocking.hasBegun { try await Task.sleep(for: .milliseconds(1)) }
            let outcome: Result<RouteLoad.Outcome, any Error>
            do { outcome = .success(try await alone()) } catch { outcome = .failure(error) }
            blocking.stop()
            try await other.requireAnswers("blocked")
            return try outcome.get()
        }
        let first = try await alone(), second = try await beside(), third = try await beside(),
            fourth = try await alone()
        let outcomes = (alone: first + fourth, beside: second + third)
        try outcomes.alone.requireAnswers("alone")
        try outcomes.beside.requireAnswers("beside")
        return ["alone": outcomes.alone.p99, "beside": outcomes.beside.p99]
    }

    private final class BlockingLoad: Sendable {
        private let begun = Atomic(false), over = Atomic(false)

        var hasBegun: Bool { begun.load(ordering: .relaxed) }
        func stop() { over.store(true, ordering: .relaxed) }

        func goesOn(_ sent: Int) -> Bool {
            if sent >= RouteRows.connections / 2 { begun.store(true, ordering: .relaxed) }
            return !over.load(ordering: .relaxed)
        }
    }
}

extension RouteLoad.Outcome {
    /// Throws if a request has failed.
    fileprivate func requireAnswers(_ name: String) throws(BackplaneError) {
        guard failed > 0 else { return }
        throw BackplaneError(.componentFailed, "\(failed) of \(times.count) requests failed", at: name)
    }
}
