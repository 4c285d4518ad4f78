import Backplane
import Testing

@testable import BackplaneHost

/// Which components of a running host are one instance.
@Suite(.timeLimit(.minutes(5)))
struct SharedInstanceTests {
    private func clerk(data: String = #"{"className": "Archive"}"#, inward: String = "{}", outward: String = "{}")
        -> String
    {
        """
        {"className": "Clerk", "dataAccessController": \(data), "communicationController": {"className": "Post", "services": [
            {"className": "Line", "propertyName": "inward", "networkServiceConfiguration": \(inward)},
            {"className": "Line", "propertyName": "outward", "networkServiceConfiguration": \(outward)}]}}
        """
    }

    /// The instances of two managers, by what their users call them.
    private func instances(_ first: String, _ second: String) async throws -> (
        first: [String: String], second: [String: String]
    ) {
        let test = try TestHost(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"First": \#(first), "Second": \#(second)}}"#,
            plugins: [OfficePlugin.self, NewOfficePlugin.self])
        try await test.host.start()
        let one = try await test.host.manager("First", as: Office.self).everyone()
        let two = try await test.host.manager("Second", as: Office.self).everyone()
        await test.host.stop()
        return (one.mapValues(\.instance), two.mapValues(\.instance))
    }

    @Test func `equal definitions share their data and services, and neither managers nor communication controllers`()
        async throws
    {
        let (first, second) = try await instances(clerk(), clerk())
        #expect(first.count == 5)
        #expect(first["inward"] == first["outward"], "within one communication controller too")
        #expect(first["data"] == second["data"] && first["inward"] == second["inward"])
        #expect(first["self"] != second["self"] && first["communication"] != second["communication"])
        #expect(Set(first.values).union(second.values).count == 6)
    }

    @Test func `a configuration of one's own is an instance of one's own`() async throws {
        let other = clerk(
            data: #"{"className": "Archive", "configuration": {"limit": 1}, "namespace": "other"}"#,
            inward: #"{"limit": 1}"#, outward: #"{"limit": 2}"#)
        let (first, second) = try await instances(clerk(), other)
        #expect(Set(first.values).isDisjoint(with: second.values))
        #expect(second["inward"] != second["outward"])
    }

    @Test func `a configuration that is spelled otherwise is the same`() async throws {
        let (first, second) = try await instances(
            clerk(inward: #"{"limit": 1, "shelves": []}"#), clerk(inward: #"{"shelves": [], "limit": 1.0}"#))
        #expect(first["inward"] == second["inward"] && first["inward"] != first["outward"])
    }

    @Test func `another version of the class is another instance`() async throws {
        let (first, second) = try await instances(
            clerk(data: #"{"className": "Archive", "version": "[1.0,2.0)"}"#),
            clerk(data: #"{"className": "Archive", "version": "[2.0,3.0)", "namespace": "new"}"#))
        #expect(first["data"] != second["data"])
        #expect(first["inward"] == second["inward"])
    }
}
