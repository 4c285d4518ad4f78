import Backplane
import BackplaneTestKit
import FoundationEssentials
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

/// What `check` finds wrong with configurations, without making an instance.
@Suite(.timeLimit(.minutes(5)))
struct ConfigurationReviewTests {
    private static let managers = """
        "Sound": {"className": "TrialManager", "configuration": {"refusesToStart": true}},
        "Odd": {"className": "TrialManager", "configuration": {"refusesToStrat": true, "neverStarts": false}},
        "User": {"className": "RelayManager", "uses": {"trials": "Wrong"}},
        "Wrong": {"className": "TrialManager", "configuration": {"refusesToStart": "yes"}}
        """

    @Test(arguments: Origin.allCases)
    func `a value of the wrong type is an error where it stands, an unknown key a warning, and nothing is made`(
        origin: Origin
    ) async throws {
        let test = try TestHost(managers: Self.managers, from: origin)
        let problems = await test.host.check()
        #expect(
            problems.map { "\($0.severity) \($0.manager ?? "-") \($0.error.code) \($0.error.location ?? "-")" } == [
                "warning Odd manifest.unknown-key /managers/Odd/configuration/refusesToStrat",
                "error User manager.unsatisfied /managers/User/uses/trials",
                "error Wrong configuration.invalid /managers/Wrong/configuration/refusesToStart",
            ])
        #expect(problems.allSatisfy { $0.position != nil })
        #expect(problems.first?.error.message.contains("`refusesToStrat`") == true)
        #expect(test.log.lines == [])
        #expect(
            await test.host.managers.map(\.state.description) == ["resolved", "resolved", "unsatisfied", "unsatisfied"])
        await test.host.stop()
    }

    @Test func `a plugin in C that does not look at configurations finds nothing wrong with them`() async throws {
        let test = try UnrulyPlugin.host("Unruly")
        #expect(await test.host.check() == [])
        await test.host.stop()
    }

    @Test(arguments: [
        ("review_twice", "manifest.unknown-key"), ("review_never", "plugin.invalid-answer"),
        ("review_nonsense", "plugin.invalid-answer"),
    ])
    func `a plugin in C that answers twice, too late or nonsense does no harm`(review: String, code: String)
        async throws
    {
        let test = try UnrulyPlugin.host(
            "Unruly", "MadeTwice", entered: "components[0].review = components[1].review = \(review)")
        let problems = await test.host.check()
        #expect(problems.map(\.error.code.description) == [code, code])
        #expect(problems.map(\.manager) == ["MadeTwice", "Unruly"])
        await test.host.stop()
    }
}

/// A plugin whose components report their instance and configuration, and those of their collaborators.
struct ReportingPlugin: Plugin {
    static let id = "org.example.reporting"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(ReportingManager.self)
        registrar.add(ReportingStore.self)
        registrar.add(ReportingCommunication.self)
        registrar.add(ReportingService.self)
    }
}

struct InstanceReporting: Contract {
    static let version: Version = "1.0.0"
    /// The reports by the label of each collaborator; its own as `self`.
    let reports = AsyncMethod<Nothing, [String: InstanceReport]>()
}

struct InstanceReport: Codable, Hashable {
    /// No two instances have the same.
    var instance: String
    var limit: Int?
    /// The whole configuration, as it was given.
    var raw: String
}

/// The configuration of every reporting component.
struct Settings: Decodable {
    struct Shelf: Decodable {
        var size: Int
    }
    var limit: Int?
    var shelves: [Shelf]?
}

extension InstanceReport {
    init<Context: ComponentContext>(_ context: Context) where Context.Owner.Configuration == Settings {
        let raw = String(decoding: context.rawConfiguration, as: UTF8.self)
        self.init(instance: UUID().uuidString, limit: context.configuration.limit, raw: raw)
    }
}

final class ReportingManager: Manager {
    typealias Provides = InstanceReporting
    typealias Configuration = Settings
    struct Wires: Wiring {
        let dataAccessController: Wire<InstanceReporting>?
        let communicationController: Wire<InstanceReporting>?
    }
    private let own: InstanceReport
    private let wires: Wires
    init(_ context: Context) { (own, wires) = (InstanceReport(context), context.wires) }

    static func methods(_ table: inout Methods) {
        table.async(\.reports) { manager, _, call in
            var reports = ["self": manager.own]
            reports["data"] = try await manager.wires.dataAccessController?.reports(call)["self"]
            for (name, report) in try await manager.wires.communicationController?.reports(call) ?? [:] {
                reports[name == "self" ? "communication" : name] = report
            }
            return reports
        }
    }
}

final class ReportingStore: DataAccessController {
    typealias Provides = InstanceReporting
    typealias Configuration = Settings
    private let own: InstanceReport
    init(_ context: Context) { own = InstanceReport(context) }
    static func methods(_ table: inout Methods) {
        table.async(\.reports) { store, _, _ in ["self": store.own] }
    }
}

final class ReportingCommunication: CommunicationController {
    typealias Provides = InstanceReporting
    typealias Configuration = Settings
    struct Wires: Wiring {
        let inward: Wire<InstanceReporting>?
        let outward: Wire<InstanceReporting>?
    }
    private let own: InstanceReport
    private let wires: Wires
    init(_ context: Context) { (own, wires) = (InstanceReport(context), context.wires) }

    static func methods(_ table: inout Methods) {
        table.async(\.reports) { communication, _, call in
            var reports = ["self": communication.own]
            reports["inward"] = try await communication.wires.inward?.reports(call)["self"]
            reports["outward"] = try await communication.wires.outward?.reports(call)["self"]
            return reports
        }
    }
}

final class ReportingService: NetworkService {
    typealias Provides = InstanceReporting
    typealias Configuration = Settings
    private let own: InstanceReport
    init(_ context: Context) { own = InstanceReport(context) }
    static func methods(_ table: inout Methods) {
        table.async(\.reports) { service, _, _ in ["self": service.own] }
    }
}
