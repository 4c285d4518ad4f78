import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Glibc
import Synchronization
import TestFixtures
import Testing

@testable import BackplaneHost

/// The private folders of components that use the network, and files that pass between components.
@Suite(.timeLimit(.minutes(5)))
struct NetworkFolderTests {
    private func host(_ managers: String) throws -> TestHost {
        try TestHost(
            #"{"manifestVersion": 1, "managers": {\#(managers)}}"#, linked: [LinkedPlugin(ShelfPlugin.self)]
        ) { options in
            options.executors = [
                MemoryExecutor { request, _ in
                    HTTPStreamedResponse(HTTPResponse(status: 200, body: Array("from \(request.url)".utf8)))
                }
            ]
        }
    }

    /// A manager whose one service has a configuration, and other keys of its definition.
    private func manager(_ name: String, _ key: String = "a", _ more: String = "") -> String {
        """
        "\(name)": {"className": "ShelfManager", "dataAccessController": {"className": "ShelfStore"},
          "communicationController": {"className": "ShelfCommunication", "services": [
            {"className": "ShelfService", "propertyName": "shelf", "networkServiceConfiguration": {"key": "\(key)"}\(more)}]}}
        """
    }

    private func folders(_ managers: String, of names: [String]) async throws -> [String] {
        let test = try host(managers)
        var folders: [String] = []
        for name in names {
            let shelf: Remote<Shelf> = try await test.host.manager(name)
            let folder = try await shelf.folder(Nothing())
            #expect(try FileStatus(at: folder).kind == .folder && FileStatus(at: folder).mode & 0o777 == 0o700)
            folders.append(FilePath.name(of: folder))
        }
        await test.host.stop()
        return folders
    }

    @Test func `equal services share one folder, and different ones never`() async throws {
        let managers = [manager("Attic"), manager("Cellar"), manager("Den", "b")].joined(separator: ",")
        #expect(
            try await folders(managers, of: ["Attic", "Cellar", "Den"]) == ["Attic@shelf", "Attic@shelf", "Den@shelf"])
    }

    @Test(arguments: [LaneRule.fastest, .encoded])
    func `a file that was downloaded is adopted by a data access controller`(lanes: LaneRule) async throws {
        let test = try host(manager("Attic"))
        let shelf: Remote<Shelf> = try await test.host.manager("Attic")
        let path = try await shelf.keep("http://books.test/whale")
        #expect(path.hasSuffix("/ShelfStore/kept"))
        #expect(try FileTree.names(in: FilePath.folder(of: path)) == ["kept"])
        #expect(try FileStatus(at: path).size == "from http://books.test/whale".utf8.count)
        let folder = try await shelf.folder(Nothing())
        #expect(try FileTree.names(in: folder) == [], "it was moved")
        for (name, reason) in [
            ("gone", "No such file"), ("../kept", "not a path in the component's folder"),
            ("folder", "not a regular file"),
        ] {
            let refused = await error { try await shelf.hand(name) }
            #expect(refused?.code == .componentFailed || refused?.code == .fileRefused)
            #expect("\(String(describing: refused))".contains(reason), "\(String(describing: refused))")
        }
        await test.host.stop()
    }
}

private struct Shelf: Contract {
    static let version: Version = "1.0.0"
    let folder = AsyncMethod<Nothing, String>()
    /// Downloads a URL, and keeps the file.
    let keep = AsyncMethod<String, String>()
    /// Hands a file of the service over.
    let hand = AsyncMethod<String, String>()
}

private struct ShelfNetwork: Contract {
    static let version: Version = "1.0.0"
    let folder = AsyncMethod<Nothing, String>()
    let fetch = AsyncMethod<String, StoredFile>()
    let hand = AsyncMethod<String, StoredFile>()
}

private struct ShelfFiles: Contract {
    static let version: Version = "1.0.0"
    let keep = AsyncMethod<StoredFile, String>()
}

private struct ShelfPlugin: Plugin {
    static let id = "org.backplane.tests.shelf"
    static let version: Version = "1.0.0"

    static func register(in registrar: inout Registrar) {
        registrar.add(ShelfManager.self)
        registrar.add(ShelfCommunication.self)
        registrar.add(ShelfService.self)
        registrar.add(ShelfStore.self)
    }
}

private final class ShelfManager: Manager {
    typealias Provides = Shelf
    static let className = "ShelfManager"
    struct Wires: Wiring {
        let communicationController: Wire<ShelfNetwork>
        let dataAccessController: Wire<ShelfFiles>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.folder) { shelf, _, call in
            try await shelf.wires.communicationController.folder(Nothing(), call)
        }
        table.async(\.keep) { shelf, url, call in
            let file = try await shelf.wires.communicationController.fetch(url, call)
            return try await shelf.wires.dataAccessController.keep(file, call)
        }
        table.async(\.hand) { shelf, name, call in
            let file = try await shelf.wires.communicationController.hand(name, call)
            return try await shelf.wires.dataAccessController.keep(file, call)
        }
    }
}

private final class ShelfCommunication: CommunicationController {
    typealias Provides = ShelfNetwork
    static let className = "ShelfCommunication"
    struct Wires: Wiring {
        let shelf: Wire<ShelfNetwork>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.folder) { shelf, _, call in try await shelf.wires.shelf.folder(Nothing(), call) }
        table.async(\.fetch) { shelf, url, call in try await shelf.wires.shelf.fetch(url, call) }
        table.async(\.hand) { shelf, name, call in try await shelf.wires.shelf.hand(name, call) }
    }
}

private final class ShelfService: NetworkService {
    typealias Provides = ShelfNetwork
    static let className = "ShelfService"
    struct Configuration: Codable, Sendable {
        var key: String
    }
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.folder) { shelf, _, _ in shelf.context.folder }
        table.async(\.fetch) { shelf, url, call in
            try await shelf.context.http.download(HTTPRequest("GET", url), to: "parcel", call)
            return try shelf.context.stored("parcel")
        }
        table.async(\.hand) { shelf, name, _ in
            mkdir(shelf.context.folder + "/folder", 0o700)
            return try shelf.context.stored(name)
        }
    }
}

private final class ShelfStore: DataAccessController {
    typealias Provides = ShelfFiles
    static let className = "ShelfStore"
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.keep) { store, file, _ in try store.context.adopt(file, as: "kept") }
    }
}
