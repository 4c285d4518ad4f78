#if Engines
import BackplaneTestKit
import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneNetwork
import BackplaneSQLite
import BookshelfContracts
import Foundation
import Testing

/// The example application, from its own manifests and its own libraries, in folders that are gone with the test.
final class Bookshelf: Sendable {
    let host: PluginHost
    let folder: TestFolder
    let log = TestLog()
    /// The number of requests for a token.
    var signIns: Int { tokens.all.count }
    private let tokens = Recording<Bool>()

    /// - Parameters:
    ///   - manifest: one of `manifests`, its services' URLs changed to `server` and the version there.
    ///   - mocks: What answers in place of the server.
    ///   - change: What else is different from the manifest.
    init(
        _ manifest: String = "bookshelf.json", server: String, in folder: TestFolder? = nil, mocks: Mocks? = nil,
        _ change: (inout Manifest) -> Void = { _ in }
    ) throws {
        var definition = try Manifest(contentsOf: Self.manifests + "/" + manifest)
        change(&definition)
        for (name, var credential) in definition.network.credentials {
            guard case .bearer(var source) = credential.scheme else { continue }
            source.signIn?.url = server + "/v2/sessions"
            credential.scheme = .bearer(source)
            definition.network.credentials[name] = credential
        }
        for (name, var manager) in definition.managers {
            guard let service = manager.communicationController?.services.first else { continue }
            let version = service.version?.contains("1.0.0") == true ? "v1" : "v2"
            manager.communicationController?.services[0].configuration["baseURL"] = .string(
                "\(server)/\(version)")
            if case .string(let folder)? = service.configuration["definition"] {
                manager.communicationController?.services[0].configuration["definition"] = .string(
                    "\(Self.manifests)/\(folder)")
            }
            definition.managers[name] = manager
        }
        let folder = try folder ?? TestFolder()
        self.folder = folder
        var options = HostOptions(
            pluginPaths: [Self.built], loadFolder: folder.path + "/loads", dataFolder: folder.data, log: log,
            executors: [AsyncHTTPClientExecutor()],
            openStore: { try SQLiteRecordStore(folder: $0, damaged: $1.damaged, report: $2) })
        options.openCache = { try SQLiteResponseCache(folder: $0, limit: $1, report: $2) }
        options.mocks = mocks
        options.observers = [
            { [tokens] event in if event.stage == .start, event.url.hasSuffix("/sessions") { tokens.add(true) } }
        ]
        host = PluginHost(manifest: definition, options: options)
    }

    /// Runs it for as long as `body` does.
    @discardableResult
    static func run<Result>(
        _ manifest: String = "bookshelf.json", server: String, in folder: TestFolder? = nil, mocks: Mocks? = nil,
        changing change: (inout Manifest) -> Void = { _ in }, body: (Bookshelf, Remote<Library>) async throws -> Result
    ) async throws -> Result {
        let shelf = try Bookshelf(manifest, server: server, in: folder, mocks: mocks, change)
        do {
            let result = try await body(shelf, try await shelf.host.manager("LibraryManager"))
            await shelf.host.stop()
            return result
        } catch {
            await shelf.host.stop()
            throw error
        }
    }

    /// Swaps a library for a copy whose contents differ, as after another build.
    func rebuild(_ library: String) async throws {
        let files = FileManager.default, place = "\(folder.path)/\(UUID().uuidString)"
        try files.createDirectory(atPath: place, withIntermediateDirectories: false)
        for name in try files.contentsOfDirectory(atPath: Self.built)
        where name.hasSuffix("_\(library).resources") {
            try files.copyItem(atPath: "\(Self.built)/\(name)", toPath: "\(place)/\(name)")
        }
        let copy = "\(place)/lib\(library).so"
        var contents = try Data(contentsOf: URL(filePath: "\(Self.built)/lib\(library).so"))
        // Every rebuilt library differs from the one before.
        contents.append(contentsOf: Data(place.utf8))
        try contents.write(to: URL(filePath: copy))
        let report = try await host.swap(library: copy)
        #expect(report.outcome == .changed)
    }

    static let manifests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../manifests")
        .standardizedFileURL.path
    /// Where the libraries are: beside the tests.
    static let built = RunningServer.executable.deletingLastPathComponent().path
    /// An address where nobody listens: port 1 is nobody's.
    static let nowhere = "http://127.0.0.1:1"
}

extension TestFolder {
    var data: String { path + "/data" }

    /// The database file of the one application that ran here.
    func store() throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        return "\(data)/\(try #require(names.first))/@store/store.sqlite"
    }
}
#endif
