// swift-format-ignore-file

import Backplane
import BackplaneNetwork
import BackplaneStorage

/// The control: what each role has compiles, with these same flags.
struct Bell: Contract {
    static let version: Version = "1.0.0"
    let ring = AsyncMethod<Int, Nothing>()
}

final class Sexton: Manager {
    struct Wires: Wiring {
        let dataAccessController: Wire<Bell>
        let communicationController: Wire<Bell>?
    }
    init(_ context: Context) async throws {
        _ = try await context.wires.dataAccessController.ring(3, context.begin())
        let bell: Wire<Bell> = try await context.manager("Bell")
        _ = try await context.resolve(Bell.self).ring(3, context.begin())
        _ = try await bell.ring(3, context.begin())
        context.log.info("rung")
        context.tasks.run {}
        _ = (context.resources, context.configuration, context.rawConfiguration)
    }
}

final class Keeper: DataAccessController {
    typealias Provides = Bell
    struct Ringing: Record {
        var id: String
    }
    private let ringings: RecordCollection<Ringing>
    init(_ context: Context) {
        ringings = context.store.collection()
        _ = context.folder
    }
    static func methods(_ table: inout Methods) {
        table.async(\.ring) { keeper, count, _ in
            try await keeper.ringings.save(Ringing(id: "\(count)"))
            return Nothing()
        }
    }
}

final class Messenger: CommunicationController {
    struct Wires: Wiring {
        let bell: Wire<Bell>
    }
    init(_ context: Context) {
        _ = (context.wires, context.http)
    }
}

final class Endpoint: NetworkService {
    init(_ context: Context) {
        _ = context.http
    }
}

struct ParishPlugin: Plugin {
    static let id = "org.example.parish"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Sexton.self)
        registrar.add(Keeper.self)
        registrar.add(Messenger.self)
        registrar.add(Endpoint.self)
    }
}
