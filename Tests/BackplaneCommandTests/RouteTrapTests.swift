#if Engines
import Foundation
import TestFixtures
import Testing

/// What a served host says when a route ends it.
@Suite(.timeLimit(.minutes(5)))
struct RouteTrapTests {
    @Test func `a route that traps ends its process, whose last line names the plugin`() async throws {
        let tool = try Tool()
        let manifest = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Served1"}], "managers": {"Served": {"className": "ServedRoutes"}}}"#,
            as: "backplane.json")
        let host = try RunningTool(
            ["run", manifest, "--serve", "127.0.0.1:0", "--data", tool.data, "--load-folder", tool.loads], input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": "enable=no"])
        try #require(await host.says("up;"), "\(host.output)\(host.errors)")
        let address = try #require(
            host.output.firstMatch(of: #/serving http://127\.0\.0\.1:([0-9]+)/#), "\(host.output)")
        let client = try RawClient(port: try #require(UInt16(address.1)))
        client.send("GET /version HTTP/1.1", "Host: localhost", "", "")
        #expect(client.receive(to: "}").hasPrefix("HTTP/1.1 200 "))
        client.send("GET /trap HTTP/1.1", "Host: localhost", "", "")
        #expect(client.receive() == "")
        let outcome = await host.end()
        #expect(outcome.status < 0, "\(outcome.errors)")
        let last = try #require(outcome.errors.split(separator: "\n").last)
        #expect(
            last.hasPrefix("backplane: signal ") && last.contains("org.backplane.served, generation 1 ("), "\(last)")
    }
}
#endif
