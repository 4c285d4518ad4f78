import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// A host with two tallies in Rust, the first of which can have the second wait.
struct TallyHost {
    let test: TestHost
    var host: PluginHost { test.host }
    private let folder: TestFolder

    /// Builds the library, or cancels the test where nothing can build it.
    init() throws {
        guard let compiler = RustCompiler.path else { try Test.cancel("\(RustCompiler.isMissing)") }
        folder = try TestFolder()
        library = folder.path + "/libTally.so"
        try Compiler.run([compiler] + RustCompiler.options + ["-o", library, RustCompiler.tally])
        test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "Tally"}],
             "managers": {"Here": {"className": "Tally", "uses": {"other": "There"}}, "There": {"className": "Tally"}}}
            """,
            in: folder)
    }

    /// Its path.
    let library: String

    func call(_ method: String, _ input: String = "null", of manager: String = "Here", within limit: Duration? = nil)
        async throws(BackplaneError) -> String
    {
        try await test.call(manager, method, input, within: limit)
    }

    /// The calls that a manager has not answered yet, whether or not somebody waits for them.
    func callsInFlight(of manager: String) async throws -> Int {
        try await host.coordinator.running(manager).calls.callsInFlight
    }
}
