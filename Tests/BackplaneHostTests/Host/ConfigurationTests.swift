import Backplane
import Testing

@testable import BackplaneHost

/// How a configuration of the manifest reaches the component that it is for, in every role.
@Suite(.timeLimit(.minutes(5)))
struct ConfigurationTests {
    /// A role's place in the manager `Clerk`, by what the manager calls it.
    enum Place: String, CaseIterable, Sendable {
        case `self`, data, communication, inward

        var location: String {
            switch self {
            case .self: "/managers/Clerk/configuration"
            case .data: "/managers/Clerk/dataAccessController/configuration"
            case .communication: "/managers/Clerk/communicationController/configuration"
            case .inward: "/managers/Clerk/communicationController/services/0/networkServiceConfiguration"
            }
        }

        /// What the log calls who has it.
        var source: String {
            switch self {
            case .self: "Clerk"
            case .data: "Archive"
            case .communication: "Post"
            case .inward: "Line"
            }
        }
    }

    /// A host whose component in one place has this configuration.
    private func host(_ configuration: String, at place: Place) throws -> TestHost {
        func given(at other: Place) -> String { other == place ? configuration : "{}" }
        return try TestHost(
            """
            {"manifestVersion": 1, "plugins": [], "managers": {"Clerk": {
                "className": "Clerk", "configuration": \(given(at: .self)),
                "dataAccessController": {"className": "Archive", "configuration": \(given(at: .data))},
                "communicationController": {"className": "Post", "configuration": \(given(at: .communication)), "services": [
                    {"className": "Line", "propertyName": "inward", "networkServiceConfiguration": \(given(at: .inward))}]}}}}
            """, plugins: [OfficePlugin.self])
    }

    @Test(arguments: Place.allCases)
    func `it is decoded into the component's own type, and readable as it was given`(place: Place) async throws {
        let test = try host(#"{"limit": 3, "colour": ["red", 2.5, null]}"#, at: place)
        let everyone = try await test.host.manager("Clerk", as: Office.self).everyone()
        #expect(everyone[place.rawValue]?.limit == 3)
        #expect(everyone[place.rawValue]?.raw == #"{"colour":["red",2.5,null],"limit":3}"#)
        #expect(
            everyone.filter { $0.key != place.rawValue }.allSatisfy { $0.value.limit == nil && $0.value.raw == "{}" })
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
        let error = await error { try await test.host.manager("Clerk", as: Office.self) }
        #expect(error?.code == .configurationInvalid)
        #expect(error?.location == place.location + wrong.path)
        await test.host.stop()
    }

    @Test(arguments: Place.allCases)
    func `a key that the type does not know warns under the component's name, wherever it stands`(place: Place)
        async throws
    {
        let test = try host(#"{"limt": 3, "shelves": [{"size": 1, "colour": "red"}]}"#, at: place)
        _ = try await test.host.manager("Clerk", as: Office.self)
        let warnings = test.log.all.filter { $0.level == .warning }
        #expect(warnings.map(\.source) == [place.source, place.source])
        #expect(warnings.map(\.metadata) == [["key": "/limt"], ["key": "/shelves/0/colour"]])
        await test.host.stop()
    }
}
