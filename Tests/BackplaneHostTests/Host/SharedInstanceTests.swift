import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// Which components of a running host are one instance.
@Suite(.timeLimit(.minutes(5)))
struct SharedInstanceTests {
    private func manager(
        data: String = #"{"className": "ReportingStore"}"#, inward: String = "{}", outward: String = "{}"
    )
        -> String
    {
        """
        {"className": "ReportingManager", "dataAccessController": \(data), "communicationController": {"className": "ReportingCommunication", "services": [
            {"className": "ReportingService", "propertyName": "inward", "networkServiceConfiguration": \(inward)},
            {"className": "ReportingService", "propertyName": "outward", "networkServiceConfiguration": \(outward)}]}}
        """
    }

    /// The instances of two managers, by what their users call them.
    private func instances(_ first: String, _ second: String) async throws -> (
        first: [String: String], second: [String: String]
    ) {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"First": \#(first), "Second": \#(second)}}"#,
            plugins: [ReportingPlugin.self, NewReportingPlugin.self])
        try await test.host.start()
        let one = try await test.host.manager("First", as: InstanceReporting.self).reports()
        let two = try await test.host.manager("Second", as: InstanceReporting.self).reports()
        await test.host.stop()
        return (one.mapValues(\.instance), two.mapValues(\.instance))
    }

    @Test func `equal definitions share their data and services, and neither managers nor communication controllers`()
        async throws
    {
        let (first, second) = try await instances(manager(), manager())
        #expect(first.count == 5)
        #expect(first["inward"] == first["outward"], "within one communication controller too")
        #expect(first["data"] == second["data"] && first["inward"] == second["inward"])
        #expect(first["self"] != second["self"] && first["communication"] != second["communication"])
        #expect(Set(first.values).union(second.values).count == 6)
    }

    @Test func `a configuration of one's own is an instance of one's own`() async throws {
        let other = manager(
            data: #"{"className": "ReportingStore", "configuration": {"limit": 1}, "namespace": "other"}"#,
            inward: #"{"limit": 1}"#, outward: #"{"limit": 2}"#)
        let (first, second) = try await instances(manager(), other)
        #expect(Set(first.values).isDisjoint(with: second.values))
        #expect(second["inward"] != second["outward"])
    }

    @Test func `a configuration that is spelled otherwise is the same`() async throws {
        let (first, second) = try await instances(
            manager(inward: #"{"limit": 1, "shelves": []}"#), manager(inward: #"{"shelves": [], "limit": 1.0}"#))
        #expect(first["inward"] == second["inward"] && first["inward"] != first["outward"])
    }

    @Test func `another version of the class is another instance`() async throws {
        let (first, second) = try await instances(
            manager(data: #"{"className": "ReportingStore", "version": "[1.0,2.0)"}"#),
            manager(data: #"{"className": "ReportingStore", "version": "[2.0,3.0)", "namespace": "new"}"#))
        #expect(first["data"] != second["data"])
        #expect(first["inward"] == second["inward"])
    }
}
