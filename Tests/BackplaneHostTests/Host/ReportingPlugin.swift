import Backplane
import FoundationEssentials

/// A plugin whose components tell which instance they are and how they are configured, and ask those around them the same.
struct OfficePlugin: Plugin {
    static let id = "org.example.office"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) {
        registrar.add(Clerk.self)
        registrar.add(Archive.self)
        registrar.add(Post.self)
        registrar.add(Line.self)
    }
}

/// The same archive, a version later.
struct NewOfficePlugin: Plugin {
    static let id = "org.example.office"
    static let version: Version = "2.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(Archive.self) }
}

struct Office: Contract {
    static let version: Version = "1.0.0"
    /// Each by what its user calls it, itself as `self`.
    let everyone = AsyncMethod<Nothing, [String: Colleague]>()
}

struct Colleague: Codable, Hashable {
    /// No two instances have the same.
    var instance: String
    var limit: Int?
    /// The whole configuration, as it was given.
    var raw: String
}

/// What every role of the office is configured with.
struct Settings: Decodable {
    struct Shelf: Decodable {
        var size: Int
    }
    var limit: Int?
    var shelves: [Shelf]?
}

extension Colleague {
    init<Context: ComponentContext>(_ context: Context) where Context.Owner.Configuration == Settings {
        let raw = String(decoding: context.rawConfiguration, as: UTF8.self)
        self.init(instance: UUID().uuidString, limit: context.configuration.limit, raw: raw)
    }
}

final class Clerk: Manager {
    typealias Provides = Office
    typealias Configuration = Settings
    struct Wires: Wiring {
        let dataAccessController: Wire<Office>?
        let communicationController: Wire<Office>?
    }
    private let own: Colleague
    private let wires: Wires
    init(_ context: Context) { (own, wires) = (Colleague(context), context.wires) }

    static func methods(_ table: inout Methods) {
        table.async(\.everyone) { clerk, _, call in
            var everyone = ["self": clerk.own]
            everyone["data"] = try await clerk.wires.dataAccessController?.everyone(call)["self"]
            for (name, colleague) in try await clerk.wires.communicationController?.everyone(call) ?? [:] {
                everyone[name == "self" ? "communication" : name] = colleague
            }
            return everyone
        }
    }
}

final class Archive: DataAccessController {
    typealias Provides = Office
    typealias Configuration = Settings
    private let own: Colleague
    init(_ context: Context) { own = Colleague(context) }
    static func methods(_ table: inout Methods) {
        table.async(\.everyone) { archive, _, _ in ["self": archive.own] }
    }
}

final class Post: CommunicationController {
    typealias Provides = Office
    typealias Configuration = Settings
    struct Wires: Wiring {
        let inward: Wire<Office>?
        let outward: Wire<Office>?
    }
    private let own: Colleague
    private let wires: Wires
    init(_ context: Context) { (own, wires) = (Colleague(context), context.wires) }

    static func methods(_ table: inout Methods) {
        table.async(\.everyone) { post, _, call in
            var everyone = ["self": post.own]
            everyone["inward"] = try await post.wires.inward?.everyone(call)["self"]
            everyone["outward"] = try await post.wires.outward?.everyone(call)["self"]
            return everyone
        }
    }
}

final class Line: NetworkService {
    typealias Provides = Office
    typealias Configuration = Settings
    private let own: Colleague
    init(_ context: Context) { own = Colleague(context) }
    static func methods(_ table: inout Methods) {
        table.async(\.everyone) { line, _, _ in ["self": line.own] }
    }
}
