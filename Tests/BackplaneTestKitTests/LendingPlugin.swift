import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneStorage

/// The plugin that the kit is tested with: a manager with everything that a manager can have around it.
struct ParishPlugin: Plugin {
    static let id = "org.example.parish"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Sexton.self)
        registrar.add(Register.self)
        registrar.add(Messenger.self)
        registrar.add(Tower.self)
        registrar.add(Sundial.self)
        registrar.add(Watchman.self)
    }
}

struct Ringing: Contract {
    static let version: Version = "1.0.0"
    /// Asks the tower, keeps its answer and says when that was.
    let ring = AsyncMethod<String, String>()
    let count = SyncMethod<Nothing, Int>()
}

struct Ledger: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<String, Int>()
}

struct Errand: Contract {
    static let version: Version = "1.0.0"
    let run = AsyncMethod<String, String>()
}

struct Bell: Contract {
    static let version: Version = "1.0.0"
    let strike = AsyncMethod<String, String>()
}

struct Hours: Contract {
    static let version: Version = "1.0.0"
    let now = SyncMethod<Nothing, Int>()
}

final class Sexton: Manager {
    typealias Provides = Ringing
    struct Configuration: Decodable, Sendable {
        var greeting: String?
    }
    struct Wires: Wiring {
        let dataAccessController: Wire<Ledger>
        let communicationController: Wire<Errand>
        let hours: Wire<Hours>?
    }
    private let wires: Wires
    private let greeting: String

    init(_ context: Context) {
        wires = context.wires
        greeting = context.configuration.greeting ?? ""
        context.log.info("hired")
    }

    static func methods(_ table: inout Methods) {
        table.async(\.ring) { sexton, text, call in
            let answer = try await sexton.wires.communicationController.run(text, call)
            let count = try await sexton.wires.dataAccessController.keep(answer, call)
            let hour = try sexton.wires.hours?.now(call)
            return "\(sexton.greeting)\(answer) \(count)" + (hour.map { " at \($0)" } ?? "")
        }
        table.sync(\.count) { _, _, _ in 7 }
    }
}

final class Register: DataAccessController {
    typealias Provides = Ledger
    struct Entry: Record, Hashable {
        static let collection = "entries"
        var id: String
    }
    private let entries: RecordCollection<Entry>
    init(_ context: Context) { entries = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { register, text, _ in
            try await register.entries.save(Entry(id: text))
            return try await register.entries.count()
        }
    }
}

final class Messenger: CommunicationController {
    typealias Provides = Errand
    struct Wires: Wiring {
        let bell: Wire<Bell>
    }
    private let wires: Wires
    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.run) { messenger, text, call in try await messenger.wires.bell.strike(text, call) }
    }
}

final class Tower: NetworkService {
    typealias Provides = Bell
    private let http: HTTPClient
    init(_ context: Context) { http = context.http }

    static func methods(_ table: inout Methods) {
        table.async(\.strike) { tower, text, call in
            let response = try await tower.http.send(HTTPRequest("GET", "http://tower.test/\(text)"), call)
            return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
        }
    }
}

final class Sundial: Manager {
    typealias Provides = Hours
    init(_ context: Context) {}
    static func methods(_ table: inout Methods) {
        table.sync(\.now) { _, _, _ in 12 }
    }
}

/// Asks the manager that it is told for the hour.
final class Watchman: Manager {
    typealias Provides = Errand
    private let context: Context
    init(_ context: Context) { self.context = context }
    static func methods(_ table: inout Methods) {
        table.async(\.run) { watchman, name, call in
            let hours = try await watchman.context.manager(name, as: Hours.self, for: call)
            return "\(try hours.now(call))"
        }
    }
}

extension Manifest {
    /// Everything real.
    static let parish = Manifest(managers: [
        "Sexton": ManagerDefinition(
            className: "Sexton", uses: ["hours": "Sundial"],
            dataAccessController: DataAccessControllerDefinition(className: "Register"),
            communicationController: CommunicationControllerDefinition(
                className: "Messenger", services: [ServiceDefinition(className: "Tower", propertyName: "bell")])),
        "Sundial": ManagerDefinition(className: "Sundial"),
    ])
}

extension ManagerName where C == Ringing {
    static var sexton: Self { "Sexton" }
}
