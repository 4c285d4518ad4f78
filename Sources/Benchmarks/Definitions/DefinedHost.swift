import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneExchange
import BackplaneHost
import BackplaneNetwork
import Foundation

/// A host with the same service three times: with endpoints, as a definition, and as a definition with a serializer.
struct DefinedHost: Sendable {
    private let host: PluginHost
    /// The services behind their managers.
    let written, defined, mapped: Remote<PageSearch>

    /// Starts the host.
    ///
    /// - Parameter folder: A folder for its files, which does not exist yet.
    init(in folder: String) async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func define(_ name: String, _ more: String = "") throws {
            let text = """
                {"search": {"request": {"path": "books/%0[book]/pages?word=%0[word]", "method": "POST",
                  "header": {"Accept-Language": "%0[language]"}, "body": {"reader": "%0[reader]"}}\(more)}}
                """
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name).json"))
        }
        try define("Defined")
        try define("Mapped", #", "serialization": {"serializer": "Pages"}"#)
        let executor = MemoryExecutor { _, _ in
            HTTPStreamedResponse(
                HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: FoundPage.answer))
        }
        func manager(_ className: String, _ configuration: [String: ManifestValue]) -> ManagerDefinition {
            ManagerDefinition(
                className: "PageManager",
                communicationController: ComponentDefinition(
                    className: "PageCommunication",
                    services: [
                        ComponentDefinition(
                            className: className, propertyName: "service", configuration: configuration)
                    ]))
        }
        func definition(_ name: String) -> ManagerDefinition {
            manager(
                "WebService",
                [
                    "serviceName": .string(name), "baseURL": "http://books.test/v1",
                    "definition": .string("\(folder)/\(name).json"), "contract": "PageSearch",
                ])
        }
        host = PluginHost(
            manifest: Manifest(
                plugins: [],
                managers: [
                    "Written": manager("PageService", [:]), "Defined": definition("Defined"),
                    "Mapped": definition("Mapped"), "Pages": ManagerDefinition(className: "PageSerializer"),
                ], network: NetworkSettings(serializers: ["Pages": "Pages"])),
            plugins: [PagePlugin.self],
            options: HostOptions(
                loadFolder: folder + "/loads", dataFolder: folder + "/data", executors: [executor],
                occupationLimit: nil))
        try await host.start()
        written = try await host.manager("Written")
        defined = try await host.manager("Defined")
        mapped = try await host.manager("Mapped")
    }

    func stop() async { await host.stop() }
}

/// The contract of the services.
struct PageSearch: Contract {
    static let version: Version = "1.0.0"
    let search = AsyncMethod<PageQuery, [FoundPage]>()
}

struct PageQuery: Codable, Sendable {
    var book: Int
    var word, language, reader: String
}

struct FoundPage: Codable, Sendable {
    var number: Int
    var text: String
    var words: [String]

    /// The body of every response: 20 pages, about 3 KB of JSON.
    static let answer: [UInt8] = {
        let pages = (0..<20).map { number in
            FoundPage(
                number: number, text: "Call me Ishmael. Some years ago, never mind how long precisely.",
                words: ["whale", "sea", "ship"])
        }
        return (try? JSONEncoder().encode(pages)).map { Array($0) } ?? []
    }()
}

struct PagePlugin: Plugin {
    static let id = "org.backplane.bench.pages"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(PageManager.self)
        registrar.add(PageCommunication.self)
        registrar.add(PageService.self)
        registrar.add(PageSerializer.self)
    }
}

final class PageManager: Manager {
    typealias Provides = PageSearch
    struct Wires: Wiring {
        let communicationController: Wire<PageSearch>
    }
    private let controller: Wire<PageSearch>

    init(_ context: Context) { controller = context.wires.communicationController }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { try await $0.controller.search($1, $2) }
    }
}

final class PageCommunication: CommunicationController {
    typealias Provides = PageSearch
    struct Wires: Wiring {
        let service: Wire<PageSearch>
    }
    private let service: Wire<PageSearch>

    init(_ context: Context) { service = context.wires.service }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { try await $0.service.search($1, $2) }
    }
}

/// The service written with an endpoint.
final class PageService: NetworkService {
    typealias Provides = PageSearch
    private let http: HTTPClient

    init(_ context: Context) { http = context.http.relative(to: "http://books.test/v1") }

    private struct Body: Encodable {
        var reader: String
    }

    static func methods(_ table: inout Methods) {
        table.async(\.search) { service, query, call in
            let pages = Endpoint<[FoundPage]>(
                "POST", "books/\(query.book)/pages", query: ["word": query.word],
                headers: ["Accept-Language": query.language], body: try .json(Body(reader: query.reader)))
            return try await service.http.load(pages, call)
        }
    }
}

/// A serializer that reads the pages and writes them again.
final class PageSerializer: Manager {
    typealias Provides = Serializing

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.serialize) { _, response, _ in
            try JSONEncoder().encode(JSONDecoder().decode([FoundPage].self, from: response.body))
        }
    }
}
