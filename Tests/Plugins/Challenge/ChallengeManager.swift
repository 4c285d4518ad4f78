import Backplane

/// Both collaborators are optional, as Nemo Logic's were.
final class ChallengeManager: Manager {
    typealias Provides = Challenge
    struct Wires: Wiring {
        let dataAccessController: Wire<ChallengeStorage>?
        let communicationController: Wire<ChallengeNetwork>?
    }
    private let wires: Wires
    private let log: Log
    private let atStart: Surroundings

    init(_ context: Context) async throws {
        (wires, log) = (context.wires, context.log)
        atStart = try await Self.surroundings(wires, context.begin())
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.async(\.surroundings) { manager, _, call in try await surroundings(manager.wires, call) }
        table.sync(\.atStart) { manager, _, _ in manager.atStart }
    }

    private static func surroundings(_ wires: Wires, _ call: Call) async throws -> Surroundings {
        Surroundings(
            dataAccessController: try wires.dataAccessController?.whoAreYou(call),
            communicationController: try await wires.communicationController?.whoAreYou(call),
            services: try await wires.communicationController?.services(call) ?? [])
    }
}

final class ChallengeDataAccess: DataAccessController {
    typealias Provides = ChallengeStorage
    private let log: Log

    init(_ context: Context) {
        log = context.log
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.sync(\.whoAreYou) { _, _, _ in "ChallengeDataAccess" }
    }
}

final class ChallengeCommunication: CommunicationController {
    typealias Provides = ChallengeNetwork
    struct Wires: Wiring {
        let challengeService: Wire<ChallengeEndpoint>?
        let secondService: Wire<ChallengeEndpoint>?
    }
    private let wires: Wires
    private let log: Log

    init(_ context: Context) {
        (wires, log) = (context.wires, context.log)
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.async(\.whoAreYou) { _, _, _ in "ChallengeCommunication" }
        table.async(\.services) { controller, _, call in
            var names: [String] = []
            for service in [controller.wires.challengeService, controller.wires.secondService] {
                if let service { names.append(try await service.name(call)) }
            }
            return names
        }
    }
}

actor ChallengeService: NetworkService {
    typealias Provides = ChallengeEndpoint
    struct Configuration: Decodable, Sendable {
        var NIFServiceName: String
    }
    private let name: String
    private let log: Log

    init(_ context: Context) {
        (name, log) = (context.configuration.NIFServiceName, context.log)
        log.info("init")
    }

    func activate() { log.info("activate") }
    func stop() { log.info("stop") }

    static func methods(_ table: inout Methods) {
        table.async(\.name) { service, _, _ in service.name }
    }
}
