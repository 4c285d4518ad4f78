import Backplane
import BackplaneDocuments
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Synchronization
import TestFixtures
import Testing
import TurnstileContracts

@testable import BackplaneHost

/// A host with one turnstile, whose library is built anew in a folder of its own.
struct TurnstileFixture {
    static let plugin = "org.backplane.turnstile"
    let test: TestHost
    let turnstile: Remote<TurnstileContracts.Turnstile>
    let folder: TestFolder
    /// Where the library is built.
    let path: String
    var host: PluginHost { test.host }

    /// - Parameters:
    ///   - library: The library that is active first: one that this package builds, or the bytes of another.
    ///   - sha256: what the manifest gives.
    init(
        _ library: [UInt8]? = nil, lanes: LaneRule = .fastest, sha256: String? = nil,
        options change: (inout HostOptions) -> Void = { _ in }
    ) async throws {
        let folder = try TestFolder()
        (self.folder, path) = (folder, folder.path + "/libTurnstile.so")
        let digest = sha256.map { #", "sha256": "\#($0)""# } ?? ""
        test = try TestHost(
            #"""
            {"manifestVersion": 1, "plugins": [{"library": "Turnstile"\#(digest)}], "managers": {"Turnstile": {"className": "TurnstileManager"}}}
            """#,
            linked: [], in: folder, lanes: lanes, change)
        try Self.build(library ?? Self.built("Turnstile1"), at: path)
        turnstile = try await test.host.manager("Turnstile")
    }

    /// The bytes of a library that lies beside this program.
    static func built(_ name: String) throws -> [UInt8] { try FixtureLibrary.bytes(name) }

    /// The bytes of a turnstile that does wrong: what, and when, is in its settings (`Tests/Plugins/Hostile/Library`).
    static func culprit(_ settings: [String: String] = [:], id: String = plugin, edition: Int = 3) throws -> [UInt8] {
        try FixtureLibrary.bytes("Hostile", id: id, version: "\(edition).0.0", settings: settings)
    }

    /// Puts a library where it is built, as a linker does that writes a new file and renames it.
    func build(_ library: [UInt8]) throws {
        try Self.build(library, at: path)
    }

    private static func build(_ library: [UInt8], at path: String) throws {
        guard FileContents.write(library, to: path) else { throw SystemError.last }
    }

    /// A library of another name beside it.
    func write(_ library: [UInt8], as name: String) throws -> String {
        try folder.write(library, as: name)
    }

    @discardableResult
    func swap(
        _ library: [UInt8],
        _ options: ChangeOptions = ChangeOptions(drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60))
    ) async throws -> ChangeReport {
        try build(library)
        return try await host.swap(library: path, options)
    }

    /// The number of the active generation, and how many are in memory.
    func generations() async throws -> (active: Int?, count: Int) {
        let all = try await host.generations(of: Self.plugin)
        return (all.first { $0.state == .active }?.number, all.count)
    }
}

/// Callers who pass a turnstile until they are told to stop, and what was wrong with their tickets.
enum TurnstileVisitors {
    /// What one of them saw.
    struct Visit: Sendable {
        var last: Ticket?
        var mistakes: [String] = []

        fileprivate mutating func note(_ ticket: Ticket) {
            // It is handed over with every swap, and the two editions take turns.
            let isRight = ticket.edition == 1 + ticket.handovers % 2
            let isNext =
                ticket.own == (last?.own ?? 0) + 1 && ticket.count > last?.count ?? 0
                && ticket.handovers >= last?.handovers ?? 0
            if !isRight || !isNext { mistakes.append("\(ticket) after \(last.map { "\($0)" } ?? "nothing")") }
            last = ticket
        }
    }
    private final class Flag: Sendable {
        let isSet = Atomic(false)
        /// The number of visitors that have come to the turnstile.
        let arrived = Atomic(0)
    }

    /// Has four of them pass while `body` runs, which begins once each has passed. They let one another run: two that
    /// never pause would occupy Swift's pool.
    static func with<Value: Sendable>(
        _ turnstile: Remote<TurnstileContracts.Turnstile>, _ body: () async throws -> Value
    ) async throws -> (value: Value, visits: [Visit]) {
        let end = Flag()
        let visitors = (1...4).map { number in
            Task {
                var visit = Visit(), isFirst = true
                while !end.isSet.load(ordering: .relaxed) {
                    do { visit.note(try await turnstile.pass(number)) } catch { visit.mistakes.append("\(error)") }
                    if isFirst { end.arrived.wrappingAdd(1, ordering: .relaxed) }
                    isFirst = false
                    await Task.yield()
                }
                return visit
            }
        }
        await eventually { end.arrived.load(ordering: .relaxed) == visitors.count }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        end.isSet.store(true, ordering: .relaxed)
        var visits: [Visit] = []
        for visitor in visitors { visits.append(await visitor.value) }
        return (try result.get(), visits)
    }
}

/// A host of turnstiles in libraries of this package, whose manifest changes together with its code.
struct AnnexFixture {
    static let first = "Turnstile1", annex = "Annex"
    static let firstPlugin = "org.backplane.turnstile", annexPlugin = "org.backplane.benchmark-annex"
    static let options = ChangeOptions(
        drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60), trustsLibraries: true)
    let test: TestHost
    var host: PluginHost { test.host }

    init(
        _ managers: ManifestValue, _ plugins: [String] = [annex], lanes: LaneRule = .fastest,
        in folder: TestFolder? = nil, options change: (inout HostOptions) -> Void = { _ in }
    ) async throws {
        test = try TestHost(
            String(decoding: Self.manifest(managers, plugins).json, as: UTF8.self), linked: [], in: folder,
            lanes: lanes, change)
        try await test.host.start()
    }

    static func manifest(_ managers: ManifestValue, _ plugins: [String] = [annex]) -> ManifestValue {
        [
            "manifestVersion": 1, "plugins": .array(plugins.map { ["library": .string($0)] }), "managers": managers,
        ]
    }

    static func document(_ managers: ManifestValue, _ plugins: [String] = [annex]) -> ManifestDocument {
        ManifestDocument(manifest(managers, plugins))
    }

    func manager(_ name: String) async throws(BackplaneError) -> Remote<TurnstileContracts.Turnstile> {
        try await host.manager(name)
    }

    @discardableResult
    func swap(
        _ managers: ManifestValue, _ plugins: [String] = [annex], _ change: (inout ChangeOptions) -> Void = { _ in }
    ) async throws(BackplaneError) -> ChangeReport {
        var options = Self.options
        change(&options)
        return try await host.swap([], applying: Self.document(managers, plugins), options)
    }

    /// The managers and their states.
    var states: [String] {
        get async { await host.managers.map { "\($0.name) \($0.state)" } }
    }
}
