import Backplane
import Testing

@testable import BackplaneHost

/// A host with a ledger that calls the tests' trial manager.
struct LedgerHost {
    let test: TestHost
    var host: PluginHost { test.host }
    private let folder: LoadingFixture.Folder

    /// - Parameters:
    ///   - library: The bytes that are active first.
    ///   - more: other keys of the ledger.
    init(_ library: [UInt8], configuration: String = "{}", more: String = "", log: RecordedLog = RecordedLog()) throws {
        folder = try LoadingFixture.Folder()
        try folder.write(library, as: "libLedger.so")
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}, {"library": "Ledger"}],
             "managers": {"Trials": {"className": "TrialManager"},
                          "Ledger": {"className": "LedgerManager", "uses": {"trials": "Trials"}, "configuration": \(configuration)\(more)}}}
            """,
            pluginPaths: [TestHost.libraries], in: folder, log: log)
    }

    func call(_ method: String, _ input: String = "null") async throws(BackplaneError) -> String {
        try await test.call("Ledger", method, input)
    }

    /// Replaces the active library by another one.
    func swap(_ library: [UInt8], probation: Probation? = nil) async throws -> SwapReport {
        let path = try folder.write(library, as: "libNext.so")
        return try await host.swap(
            library: path,
            SwapOptions(probation: probation, drain: .upTo(.seconds(60), then: .fail), stepLimit: .seconds(60)))
    }

    /// What the ledger wrote, and which edition of it.
    var lines: [String] {
        test.log.all.filter { $0.source == "Ledger" && $0.level == .info }.map {
            "\($0.message) \($0.metadata["edition"] ?? "?")"
        }
    }
}
