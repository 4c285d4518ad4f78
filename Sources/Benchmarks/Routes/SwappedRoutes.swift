import Backplane
import BackplaneHost
import BackplaneTools
import Foundation
import Hummingbird
import Synchronization

/// The rows of swaps under a load of requests, with 10 MB of state.
struct SwappedRouteRows: Sendable {
    private let figures: SharedFigures
    private static let swaps = 200

    init(in folder: String) {
        figures = SharedFigures { count in try await SwappedRoutes.figures(ofSwaps: count, in: folder + "/swaps") }
    }

    var rows: [Row] {
        let name = "\(SwappedRoutes.connections) connections, swaps", control = "\(name), longest stall without any"
        return [
            row("\(name), requests answered", "answered", .calls),
            row("\(name), requests failed", "failed", .calls, target: .median(atMost: 0), summary: .highest),
            row("\(name), answered by wrong code", "wrong", .calls, target: .median(atMost: 0), summary: .highest),
            row("\(name), wait at the gate, p99", "wait", .milliseconds),
            row("\(name), median", "swap", .milliseconds),
            row(control, "control stall", .milliseconds, summary: .highest),
            row(
                "\(name), longest stall", "stall", .milliseconds, baseline: control, target: .median(atMost: 20),
                summary: .highest),
        ]
    }

    private func row(
        _ name: String, _ figure: String, _ unit: Row.Unit, baseline: String? = nil, target: Target? = nil,
        summary: Row.Summary = .median
    ) -> Row {
        Row(
            name: name, unit: unit, baseline: baseline, target: target, summary: summary, limit: Self.swaps,
            count: Self.swaps, rounds: 3
        ) { [figures] count in try await figures.required(figure, count: count) }
    }
}

/// Swaps under a load of requests, and as long a load without swaps; times are in milliseconds.
///
/// The server is a process of its own, which swaps when it is asked to. Every answer states how often the state has
/// been handed over, and the edition of the code, so that one by code that was not active is detected.
enum SwappedRoutes {
    static let connections = 64
    static let serverMeasure = "routes-swaps"
    /// The number of records in the state, of 116 bytes each.
    private static let records = 100_000
    private static let period = Duration.milliseconds(300)

    private struct Ports: Codable, Sendable { var routes, control: UInt16 }

    /// The time of a swap, and the longest wait at its gates.
    private struct SwapTimes: ResponseCodable, Sendable { var time, wait: Double }

    /// The numbers of swaps that have begun and ended.
    private final class Progress: Sendable {
        let begun = Atomic(0), ended = Atomic(0), isOver = Atomic(false)
    }

    // MARK: The load

    static func figures(ofSwaps count: Int, in folder: String) async throws -> [String: Double] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = ServerProcess([MeasuringChild.command, serverMeasure, folder, folder + "/loads"])
        defer { server.stop() }
        let ports = try await JSONDecoder().decode(Ports.self, from: server.firstLine()), control = BareHTTP()
        do {
            let figures = try await figures(ofSwaps: count, ports, control)
            await control.shutdown()
            return figures
        } catch {
            await control.shutdown()
            throw error
        }
    }

    private static func figures(
        ofSwaps count: Int, _ ports: Ports, _ control: BareHTTP
    ) async throws -> [String: Double] {
        let progress = Progress(), swap = "http://127.0.0.1:\(ports.control)/swap"
        let quiet = try await load(ports.routes, progress) { try await Task.sleep(for: period * count) }.outcome
        let (busy, swaps) = try await load(ports.routes, progress) {
            let start = ContinuousClock.now
            var swaps: [SwapTimes] = []
            for number in 1...count {
                progress.begun.add(1, ordering: .sequentiallyConsistent)
                swaps.append(try await control.load(SwapTimes.self, swap))
                progress.ended.add(1, ordering: .sequentiallyConsistent)
                try await Task.sleep(until: start + period * number, clock: .continuous)
            }
            return swaps
        }
        return [
            "answered": Double(busy.times.count), "failed": Double(quiet.failed + busy.failed),
            "wrong": Double(quiet.wrong + busy.wrong), "stall": Sample(busy.times).highest,
            "control stall": Sample(quiet.times).highest, "swap": Sample(swaps.map(\.time)).median,
            "wait": Sample(swaps.map(\.wait)).p99,
        ]
    }

    /// Runs `body` under a load of requests.
    private static func load<Value: Sendable>(
        _ port: UInt16, _ progress: Progress, _ body: () async throws -> Value
    ) async throws -> (outcome: RouteLoad.Outcome, value: Value) {
        progress.isOver.store(false, ordering: .relaxed)
        let load = RouteLoad(
            port: port, path: "/version", connections: connections,
            mark: { progress.ended.load(ordering: .sequentiallyConsistent) },
            isRight: { body, least in
                let most = progress.begun.load(ordering: .sequentiallyConsistent)
                guard let handovers = number(after: "\"handovers\":", in: body), (least...most).contains(handovers)
                else {
                    return false
                }
                let edition = handovers % 2 == 0 ? "first" : "second"
                return place(of: "\"edition\":\"\(edition)\"", in: body) != nil
            })
        async let outcome = load.run { _ in !progress.isOver.load(ordering: .relaxed) }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        progress.isOver.store(true, ordering: .relaxed)
        return (try await outcome, try result.get())
    }

    private static func number(after text: String, in body: ArraySlice<UInt8>) -> Int? {
        guard let end = place(of: text, in: body)?.upperBound else { return nil }
        return Int(String(decoding: body[end...].prefix { (48...57).contains($0) }, as: UTF8.self))
    }

    private static func place(of text: String, in body: ArraySlice<UInt8>) -> Range<Int>? {
        let text = text.utf8, last = body.endIndex - text.count
        guard last >= body.startIndex else { return nil }
        return (body.startIndex...last).first { body[$0...].starts(with: text) }.map { $0..<$0 + text.count }
    }

    // MARK: The server

    /// Serves in a child process until its parent has ended.
    static func serve(in folder: String, loads: String) async throws {
        let editions = try ["Served1", "Served2"].map { name in
            let deployed = "\(folder)/\(name).so"
            try DeployedLibrary.make(of: BuiltLibrary.path(of: name), at: deployed)
            return deployed
        }
        let library = try RebuiltLibrary(of: editions, in: folder + "/library"), edition = Mutex(1)
        var options = HostOptions(
            loadFolder: loads, dataFolder: folder + "/data", log: StandardErrorLog(level: .critical))
        options.checksState = false  // a release build does not, and figures of a debug build are meaningless
        options.occupationLimit = nil  // requests intentionally occupy the pool here
        let host = PluginHost(
            manifest: Manifest(
                plugins: [PluginReference(library: library.path)],
                managers: [
                    "Served": ManagerDefinition(
                        className: "ServedRoutes", configuration: ["records": .integer(Int64(records))])
                ]), options: options)
        try await host.start()
        let control = Router()
        control.get("/swap") { _, _ in
            let other = edition.withLock { edition in
                edition = 3 - edition
                return edition
            }
            try library.build(other)
            let start = ContinuousClock.now
            let report = try await host.swap(library: library.path, ChangeOptions(trustsLibraries: true))
            guard report.outcome == .changed else {
                throw BackplaneError(
                    .swapFailed, "expected the other edition to become active, found: \(report.outcome.rawValue)",
                    at: library.path)
            }
            return SwapTimes(
                time: (ContinuousClock.now - start) / .milliseconds(1), wait: report.longestWait / .milliseconds(1))
        }
        try await RouteRig.announce(
            Ports(
                routes: try await RouteRig.listen(RouteRig.router(of: host)),
                control: try await RouteRig.listen(control)))
    }
}
