import Backplane
import BackplaneHost
import BackplaneNetwork
import BackplaneStorage

/// The plugin that the kit is tested with: a manager with everything that a manager can have around it.
struct LendingPlugin: Plugin {
    static let id = "org.example.lending"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Librarian.self)
        registrar.add(LoanStore.self)
        registrar.add(LendingCommunication.self)
        registrar.add(LendingService.self)
        registrar.add(ReadingClock.self)
        registrar.add(ClockReader.self)
    }
}

struct Lending: Contract {
    static let version: Version = "1.0.0"
    struct Failure: ContractError, Equatable {
        var book: String
        var code: String { "lending.lent" }
        var message: String { "`\(book)` is lent" }
    }
    /// Asks the service, keeps its answer and says when that was.
    let lend = AsyncMethod<String, String>()
    let count = SyncMethod<Nothing, Int>()
}

struct Ledger: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<String, Int>()
}

struct LendingNetwork: Contract {
    static let version: Version = "1.0.0"
    let run = AsyncMethod<String, String>()
}

struct LendingAPI: Contract {
    static let version: Version = "1.0.0"
    let send = AsyncMethod<String, String>()
}

struct Hours: Contract {
    static let version: Version = "1.0.0"
    let now = SyncMethod<Nothing, Int>()
}

final class Librarian: Manager {
    typealias Provides = Lending
    struct Configuration: Decodable, Sendable {
        var greeting: String?
    }
    struct Wires: Wiring {
        let dataAccessController: Wire<Ledger>
        let communicationController: Wire<LendingNetwork>
        let hours: Wire<Hours>?
    }
    private let wires: Wires
    private let greeting: String

    init(_ context: Context) {
        wires = context.wires
        greeting = context.configuration.greeting ?? ""
        context.log.info("created")
    }

    static func methods(_ table: inout Methods) {
        table.async(\.lend) { librarian, text, call in
            let answer = try await librarian.wires.communicationController.run(text, call)
            let count = try await librarian.wires.dataAccessController.keep(answer, call)
            let hour = try librarian.wires.hours?.now(call)
            return "\(librarian.greeting)\(answer) \(count)" + (hour.map { " at \($0)" } ?? "")
        }
        table.sync(\.count) { _, _, _ in 7 }
    }
}

final class LoanStore: DataAccessController {
    typealias Provides = Ledger
    struct Entry: Record, Hashable {
        static let collection = "entries"
        var id: String
    }
    private let entries: RecordCollection<Entry>
    init(_ context: Context) { entries = context.store.collection() }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, text, _ in
            try await store.entries.save(Entry(id: text))
            return try await store.entries.count()
        }
    }
}

final class LendingCommunication: CommunicationController {
    typealias Provides = LendingNetwork
    struct Wires: Wiring {
        let api: Wire<LendingAPI>
    }
    private let wires: Wires
    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.run) { communication, text, call in try await communication.wires.api.send(text, call) }
    }
}

final class LendingService: NetworkService {
    typealias Provides = LendingAPI
    private let http: HTTPClient
    init(_ context: Context) { http = context.http }

    static func methods(_ table: inout Methods) {
        table.async(\.send) { service, text, call in
            let response = try await service.http.send(HTTPRequest("GET", "http://lending.test/\(text)"), call)
            return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
        }
    }
}

final class ReadingClock: Manager {
    typealias Provides = Hours
    init(_ context: Context) {}
    static func methods(_ table: inout Methods) {
        table.sync(\.now) { _, _, _ in 12 }
    }
}

/// Asks the manager that it is told for the hour.
final class ClockReader: Manager {
    typealias Provides = LendingNetwork
    private let context: Context
    init(_ context: Context) { self.context = context }
    static func methods(_ table: inout Methods) {
        table.async(\.run) { reader, name, call in
            let hours = try await reader.context.manager(name, as: Hours.self, for: call)
            return "\(try hours.now(call))"
        }
    }
}

extension Manifest {
    /// Everything real.
    static let lending = Manifest(managers: [
        "Librarian": ManagerDefinition(
            className: "Librarian", uses: ["hours": "ReadingClock"],
            dataAccessController: ComponentDefinition(className: "LoanStore"),
            communicationController: ComponentDefinition(
                className: "LendingCommunication",
                services: [ComponentDefinition(className: "LendingService", propertyName: "api")])),
        "ReadingClock": ManagerDefinition(className: "ReadingClock"),
    ])
}

extension ManagerName where C == Lending {
    static var librarian: Self { "Librarian" }
}
