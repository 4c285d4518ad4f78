import Backplane
import BackplaneTestKit
import TestFixtures
import Testing

@testable import BackplaneHost

/// How a configuration of the manifest reaches the component that it is for, in every role.
@Suite(.timeLimit(.minutes(5)))
struct ConfigurationTests {
    /// A role's place in the manager `ReportingManager`, by what the manager calls it.
    enum Place: String, CaseIterable, Sendable {
        case `self`, data, communication, inward

        var location: String {
            switch self {
            case .self: "/managers/ReportingManager/configuration"
            case .data: "/managers/ReportingManager/dataAccessController/configuration"
            case .communication: "/managers/ReportingManager/communicationController/configuration"
            case .inward: "/managers/ReportingManager/communicationController/services/0/configuration"
            }
        }

        /// What the log calls who has it.
        var source: String {
            switch self {
            case .self: "ReportingManager"
            case .data: "ReportingStore"
            case .communication: "ReportingCommunication"
            case .inward: "ReportingService"
            }
        }
    }

    /// A host whose component in one place has this configuration.
    private func host(_ configuration: String, at place: Place) throws -> TestHost {
        func given(at other: Place) -> String { other == place ? configuration : "{}" }
        return try TestHost(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {"ReportingManager": {
                "className": "ReportingManager", "configuration": \(given(at: .self)),
                "dataAccessController": {"className": "ReportingStore", "configuration": \(given(at: .data))},
                "communicationController": {"className": "ReportingCommunication", "configuration": \(given(at: .communication)), "services": [
                    {"className": "ReportingService", "propertyName": "inward", "configuration": \(given(at: .inward))}]}}}}
            """, plugins: [ReportingPlugin.self])
    }

    @Test(arguments: Place.allCases)
    func `it is decoded into the component's own type, and readable as it was given`(place: Place) async throws {
        let test = try host(#"{"limit": 3, "colour": ["red", 2.5, null]}"#, at: place)
        let reports = try await test.host.manager("ReportingManager", as: InstanceReporting.self).reports()
        #expect(reports[place.rawValue]?.limit == 3)
        #expect(reports[place.rawValue]?.raw == #"{"colour":["red",2.5,null],"limit":3}"#)
        #expect(
            reports.filter { $0.key != place.rawValue }.allSatisfy { $0.value.limit == nil && $0.value.raw == "{}" })
        await test.host.stop()
    }

    @Test(
        arguments: Place.allCases,
        [
            (#"{"limit": "three"}"#, "/limit"), (#"{"shelves": [{"size": 1}, {"size": []}]}"#, "/shelves/1/size"),
            (#"{"shelves": [{}]}"#, "/shelves/0/size"),
        ])
    func `a wrong value is located in the manifest`(place: Place, wrong: (configuration: String, path: String))
        async throws
    {
        let test = try host(wrong.configuration, at: place)
        let error = await error { try await test.host.manager("ReportingManager", as: InstanceReporting.self) }
        #expect(error?.code == .configurationInvalid)
        #expect(error?.location == place.location + wrong.path)
        await test.host.stop()
    }

    @Test(arguments: Place.allCases)
    func `a key that the type does not know warns under the component's name, wherever it stands`(place: Place)
        async throws
    {
        let test = try host(#"{"limt": 3, "shelves": [{"size": 1, "colour": "red"}]}"#, at: place)
        _ = try await test.host.manager("ReportingManager", as: InstanceReporting.self)
        let warnings = test.log.records.filter { $0.level == .warning }
        #expect(warnings.map(\.source) == [place.source, place.source])
        #expect(warnings.map(\.metadata) == [["key": "/limt"], ["key": "/shelves/0/colour"]])
        await test.host.stop()
    }
}
