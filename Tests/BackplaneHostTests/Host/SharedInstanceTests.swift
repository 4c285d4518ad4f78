import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Which components of a running host are one instance.
@Suite(.timeLimit(.minutes(5)))
struct SharedInstanceTests {
    private static let manager = """
        {"className": "ReportingManager", "dataAccessController": {"className": "ReportingStore"},
         "communicationController": {"className": "ReportingCommunication", "services": [
            {"className": "ReportingService", "propertyName": "inward"},
            {"className": "ReportingService", "propertyName": "outward"}]}}
        """

    /// The instances of two managers, by what their users call them.
    private func instances(_ first: String, _ second: String) async throws -> (
        first: [String: String], second: [String: String]
    ) {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"First": \#(first), "Second": \#(second)}}"#,
            plugins: [ReportingPlugin.self])
        try await test.host.start()
        let one = try await test.host.manager("First", as: InstanceReporting.self).reports()
        let two = try await test.host.manager("Second", as: InstanceReporting.self).reports()
        await test.host.stop()
        return (one.mapValues(\.instance), two.mapValues(\.instance))
    }

    @Test func `equal definitions share their data and services, and neither managers nor communication controllers`()
        async throws
    {
        let (first, second) = try await instances(Self.manager, Self.manager)
        #expect(first.count == 5)
        #expect(first["inward"] == first["outward"], "within one communication controller too")
        #expect(first["data"] == second["data"] && first["inward"] == second["inward"])
        #expect(first["self"] != second["self"] && first["communication"] != second["communication"])
        #expect(Set(first.values).union(second.values).count == 6)
    }
}
