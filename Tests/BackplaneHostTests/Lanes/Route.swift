import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// How calls get to a provider of the parity plugins: in which lane, and from the host program or from another library.
struct Route: CaseIterable, Sendable, CustomTestStringConvertible {
    var lanes: LaneRule
    var isRelayed: Bool

    static let allCases = [
        Route(lanes: .fastest, isRelayed: false), Route(lanes: .encoded, isRelayed: false),
        Route(lanes: .fastest, isRelayed: true), Route(lanes: .encoded, isRelayed: true),
    ]

    var testDescription: String {
        "\(lanes == .encoded ? "encoded" : "native"), \(isRelayed ? "from plugin to plugin" : "from the host")"
    }

    /// Runs a host of a provider and its relay for as long as `body` does, and sees to it that every call takes the
    /// lane.
    ///
    /// - Parameters:
    ///   - name: of the classes, without `Manager` and `Relay`.
    ///   - others: further managers.
    func with<C: Contract>(
        _ name: String, as _: C.Type, others: String = "", _ body: (TestHost, Remote<C>) async throws -> Void
    ) async throws {
        let managers =
            #""Direct": {"className": "\#(name)Manager"}, "Relayed": {"className": "\#(name)Relay", "uses": {"next": "Direct"}}"#
            + others
        try await TestHost.with(parity: managers, lanes: lanes) { test in
            let remote: Remote<C> = try await test.host.manager(isRelayed ? "Relayed" : "Direct")
            let crossed = Set(await test.host.wires.map(\.lane))
            #expect(
                crossed == [lanes == .encoded ? .encoded(because: "the host is set to encode every call") : .native])
            try await body(test, remote)
        }
    }
}

extension TestHost {
    /// Runs a host of the parity plugins, and stops it however `body` ends.
    static func with(
        parity managers: String, libraries: [String] = [], pluginPaths: [String] = [],
        in folder: TestFolder? = nil, lanes: LaneRule = .fastest,
        _ body: (TestHost) async throws -> Void
    ) async throws {
        let plugins = (["_Parity", "_ParityRelay"] + libraries).map { #"{"library": "\#($0)"}"# }.joined(
            separator: ", ")
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [\#(plugins)], "managers": {\#(managers)}}"#, pluginPaths: pluginPaths,
            in: folder, lanes: lanes, stopLimit: .seconds(60))
        do {
            try await body(test)
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }
}
