import Backplane
import FoundationEssentials

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
