import Backplane
import BackplaneNetwork
import BackplaneStorage

/// A plugin that says what it was made with, and uses every service of its host.
struct ProbePlugin: Plugin {
    static let id = "org.example.probe"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(ProbeManager.self)
        registrar.add(ProbeService.self)
        registrar.add(ProbeStore.self)
        registrar.add(ProbeFinder.self)
    }
}

struct Probing: Contract {
    static let version: Version = "1.0.0"
    let probe = AsyncMethod<Nothing, String>()
}

final class ProbeManager: Manager {
    typealias Provides = Probing
    struct Configuration: Decodable { var word: String? }
    struct Wires: Wiring {
        let first: Wire<Probing>?
        let second: Wire<Probing>?
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.probe) { manager, _, call in
            let context = manager.context
            context.log.error("heard")
            context.log.error("of the call", metadata: ["number": "1"], for: call)
            let wires = [context.wires.first.map { _ in "first" }, context.wires.second.map { _ in "second" }]
                .compactMap(\.self)
            return "\(context.configuration.word ?? "-") \(context.resources.folder ?? "-") \(wires)"
        }
    }
}

final class ProbeService: NetworkService {
    typealias Provides = Probing
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.probe) { service, _, call in
            "\(try await service.context.http.send(HTTPRequest("GET", "http://localhost"), call).status)"
        }
    }
}

final class ProbeStore: DataAccessController {
    typealias Provides = Probing
    struct Item: Record { var id: String }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.probe) { store, _, _ in
            "\(try await store.context.store.collection(Item.self).all().map(\.id))"
        }
    }
}

/// Stores records whose words are indexed, and tells what a search for them is.
final class ProbeFinder: DataAccessController {
    typealias Provides = Probing
    struct Item: Record {
        var id: String
        struct Indexes: RecordIndexes { let words = FullText("id") }
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.probe) { finder, _, _ in
            let items = finder.context.store.collection(Item.self), all = try await items.all().map(\.id)
            do throws(BackplaneError) {
                return "\(all) \(try await items.search(\.words, "a").records.count)"
            } catch {
                return "\(all) \(error.code.rawValue)"
            }
        }
    }
}
