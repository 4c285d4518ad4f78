import Backplane
import BackplaneNetwork
import BackplaneTestKit
import Foundation
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
