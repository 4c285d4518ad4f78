import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneNetwork
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Managers that map the responses of definitions to the JSON of contracts.
@Suite(.timeLimit(.minutes(5)))
struct SerializerTests {
    private static let definition = #"""
        {"search": {"request": {"path": "flat/%0[zip]"}, "serialization": {"serializer": "Flat"}},
         "all": {"request": {"path": "pharmacies"}}}
        """#

    /// Creates a host with a manager `FlatSerializer`, in this program or in C.
    private func host(
        _ sections: String = #""network": {"serializers": {"Flat": "FlatSerializer"}}, "#, lanes: LaneRule = .fastest,
        inC: Bool = false
    ) throws -> PharmacyHost {
        try PharmacyHost(
            Self.definition,
            library: inC ? "FixturesInC" : nil,
            server: PharmacyServer { request in
                request.url.contains("/flat/") ? HTTPResponse(status: 200, body: Array("7;Löwen\n8;Adler".utf8)) : nil
            }, lanes: lanes, sections: sections,
            managers: #""FlatSerializer": {"className": "\#(inC ? "SerializerInC" : "FlatSerializer")"}, "#)
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a serializer makes the contract's JSON of another shape`(lanes: LaneRule) async throws {
        let test = try host(lanes: lanes)
        try await test.host.start()
        let pharmacies = try await test.pharmacies
        #expect(
            try await pharmacies.search(PharmacyQuery(zip: "1")) == [
                Pharmacy(id: 7, name: "Löwen"), Pharmacy(id: 8, name: "Adler"),
            ])
        #expect(try await pharmacies.all(Nothing()).map(\.name) == ["Löwen"], "without a serializer")
        await test.host.stop()
    }

    @Test func `a serializer in C is one, too`() async throws {
        let test = try host(inC: true), pharmacies = try await test.pharmacies
        #expect(try await pharmacies.search(PharmacyQuery(zip: "1")) == [Pharmacy(id: 1, name: "C")])
        await test.host.stop()
    }

    @Test func `an unknown serializer, and one that is no manager or provides something else, are errors`() async throws
    {
        var problems = try await problems(#""network": {"serializers": {}}, "#)
        #expect(problems.map(\.code) == [.definitionUnknownName])
        problems = try await self.problems(#""network": {"serializers": {"Flat": "Nobody"}}, "#)
        #expect(problems.map(\.code) == [.unknownManager])
        #expect(problems[0].location == "/network/serializers/Flat")
        problems = try await self.problems(#""network": {"serializers": {"Flat": "Pharmacies"}}, "#)
        #expect(Set(problems.map(\.code)) == [.wireMismatch, .definitionUnknownName])
        problems = try await self.problems(#""network": {"serializers": {"Flat": 7}}, "#)
        #expect(problems.contains { $0.code == .manifestWrongType })
    }

    private func problems(_ sections: String) async throws -> [BackplaneError] {
        let test = try host(sections), problems = await test.host.check().filter { $0.severity == .error }
        await test.host.stop()
        return problems.map(\.error)
    }
}

/// A serializer of lines with an id and a name.
final class FlatSerializer: Manager {
    typealias Provides = Serializing

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.serialize) { _, response, _ in
            #expect(response.serializer == "Flat" && response.method == "search" && response.status == 200)
            let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            return try JSONEncoder().encode(
                lines.map { line in
                    let parts = line.split(separator: ";")
                    return Pharmacy(id: Int(parts[0]) ?? 0, name: String(parts[1]))
                })
        }
    }
}
