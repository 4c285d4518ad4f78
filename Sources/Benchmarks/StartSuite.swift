import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHTTP
import BackplaneHost
import BackplaneTools
import Foundation
import Glibc

// The cost of an application before its first call: starting a host, its memory while idle, and resolving a large
// manifest. The host runs the example `manifests/bookshelf.json`, which needs no server for this.
extension BenchSuite {
    static let start = BenchSuite(name: "start") { folder in
        let crowd = try Crowd(in: folder), bookshelf = try StartSuite.manifest(in: folder),
            clock = folder + "/clock.json"
        try Data(#"{"manifestVersion": 1, "plugins": ["Clock"], "managers": {"ClockManager": {}}}"#.utf8).write(
            to: URL(filePath: clock))
        let host = Row("start of a host with Bookshelf", .milliseconds, beside: "its libraries loaded without a host")
        let memory = Row(
            "memory of an idle host with Bookshelf", .megabytes, beside: "with a plugin in C alone", target: .atMost(60)
        )
        return Opened([
            Measurement(rows: [host], rounds: 7, count: 1) { _ in
                let start = try await Child.figures("start", ["start"], in: folder)[0].value
                return [Figure(start, beside: try await Child.figures("dlopen", ["dlopen"], in: folder)[0].value)]
            },
            Measurement(rows: [memory], rounds: 5, count: 1) { _ in
                [
                    Figure(
                        try await StartSuite.memory(of: bookshelf, in: folder),
                        beside: try await StartSuite.memory(of: clock, in: folder))
                ]
            },
            .durations(
                "1,000 managers with 4,000 components resolved", target: .atMost(50),
                beside: "Foundation reads the JSON"
            ) {
                try crowd.timeReading()
            } _: {
                try crowd.timeResolving()
            },
        ])
    }
}

enum StartSuite {
    /// Copies the manifest of the example, so that its libraries are looked up beside this program.
    static func manifest(in folder: String) throws -> String {
        let path = folder + "/bookshelf.json"
        let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../manifests")
        try FileManager.default.copyItem(at: checkout.appending(path: "bookshelf.json"), to: URL(filePath: path))
        return path
    }

    /// Starts a host in a child.
    static func start(in folder: String) async throws -> [String: Figure] {
        let host = PluginHost(
            manifest: ManifestDocument(contentsOf: try manifest(in: folder)),
            options: HostOptions(
                loadFolder: folder + "/load", dataFolder: folder + "/data", log: StandardErrorLog(level: .error),
                executors: [AsyncHTTPClientExecutor(proxies: .none)]))
        let start = ContinuousClock.now
        do { try await host.start() } catch {
            await host.stop()
            throw error
        }
        let time = ContinuousClock.now - start
        await host.stop()
        return ["start": Figure(time / .milliseconds(1))]
    }

    /// Loads the same libraries in a child without a host.
    static func load() throws -> [String: Figure] {
        let libraries = try ["Bookshelf", "BooksAPIv2", "Clock"].map { name throws(BackplaneError) in
            try RebuiltLibrary.built(name)
        }
        let start = ContinuousClock.now
        for library in libraries where dlopen(library, RTLD_NOW | RTLD_LOCAL) == nil {
            throw BackplaneError(.pluginDamaged, String(cString: dlerror()), at: library)
        }
        return ["dlopen": Figure((ContinuousClock.now - start) / .milliseconds(1))]
    }

    /// Returns the resident memory of an idle host in its own process, in millions of bytes.
    static func memory(of manifest: String, in folder: String) async throws -> Double {
        // Without a control socket, other commands do not find the host.
        let arguments = [
            "run", manifest, "--json", "--no-control", "--load-folder", folder + "/load", "--data", folder + "/data",
        ]
        return try await Child.with(arguments) { child in
            guard !child.line().isEmpty else {
                try child.end()
                throw BackplaneError(.componentFailed, "the host did not start", at: manifest)
            }
            let bytes = try ProcessMemory.bytes("Rss", ofProcess: "\(child.id)")
            child.stop()
            try child.end()
            return bytes / 1e6
        }
    }
}

/// Managers of the library `BenchmarkCrowd`, which use one another in chains of ten, and the classes of the library.
///
/// Each manager has a data access controller, a communication controller and two network services: the current version
/// of one class, and a former version of another. The components are chosen from 6,000 classes.
struct Crowd: Sendable {
    private static let size = 1_000
    private let text: Data
    private let document: ManifestDocument
    private let entries: [Catalogue.Entry]
    /// The path of the manifest.
    let path: String

    init(in folder: String) throws {
        let managers = (0..<Self.size).map { ("Manager\(Self.digits($0))", Self.manager($0)) }
        let manifest: ManifestValue = [
            "manifestVersion": 1, "plugins": ["BenchmarkCrowd"],
            "managers": .dictionary(Dictionary(uniqueKeysWithValues: managers)),
        ]
        (text, path) = (manifest.json, folder + "/crowd.json")
        try text.write(to: URL(filePath: path))
        document = ManifestDocument(parsing: text, path: path)
        let loads = try LoadFolder(in: folder + "/crowd-load")
        defer { loads.remove() }
        let plugin = try LibraryFile.prepare(RebuiltLibrary.built("BenchmarkCrowd"), in: loads).describe()
        entries = plugin.components.enumerated().map { index, component in
            Catalogue.Entry(
                plugin: plugin.id, pluginVersion: plugin.version, order: 0, index: index,
                component: component.description)
        }
    }

    private static func manager(_ number: Int) -> ManifestValue {
        let digits = digits(number)
        var manager: [String: ManifestValue] = [
            "className": .string("CrowdManager" + digits),
            "dataAccessController": ["className": .string("CrowdStore" + digits), "configuration": ["keep": 500]],
            "communicationController": [
                "className": .string("CrowdCommunication" + digits),
                "services": [
                    service("current", number, version: "[2.0,3.0)"),
                    service("former", (number + 1) % size, version: "[1.0,2.0)"),
                ],
            ],
        ]
        if number % 10 > 0 { manager["uses"] = ["previous": .string("Manager" + Self.digits(number - 1))] }
        return .dictionary(manager)
    }

    private static func service(_ property: String, _ number: Int, version: String) -> ManifestValue {
        [
            "className": .string("CrowdService" + digits(number)), "version": .string(version),
            "propertyName": .string(property),
            "configuration": [
                "baseURL": .string("http://127.0.0.1:8484/crowd/\(number)"), "timeout": 30, "reader": "ada",
            ],
        ]
    }

    private static func digits(_ number: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: 4 - text.count) + text
    }

    func timeReading() throws -> Duration {
        let start = ContinuousClock.now
        _ = try JSONSerialization.jsonObject(with: text)
        return ContinuousClock.now - start
    }

    func timeResolving() throws -> Duration {
        let catalogue = Catalogue(entries), start = ContinuousClock.now
        let problems = Resolution(document, catalogue: catalogue).problems
        let time = ContinuousClock.now - start
        if let problem = problems.first { throw problem.error }
        return time
    }
}
