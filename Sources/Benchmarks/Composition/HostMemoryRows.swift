import Backplane
import BackplaneDocuments
import BackplaneHost
import Foundation

/// The rows for the memory of an idle host with Bookshelf, in a separate process; no server is needed.
struct HostMemoryRows: Sendable {
    private let figures: SharedFigures

    init(in folder: String) {
        figures = SharedFigures { _ in try await Self.measure(in: folder) }
    }

    var rows: [Row] {
        [
            row("resident", "Rss", target: .median(atMost: 60)),
            row("proportional share", "Pss"),
            row("its own", "Private_Dirty"),
        ]
    }

    private func row(_ what: String, _ field: String, target: Target? = nil) -> Row {
        Row(name: "idle host with Bookshelf, memory: \(what)", unit: .megabytes, target: target, limit: 1) {
            [figures] count in
            guard let bytes = try await figures.next(field, count: count) else {
                throw BackplaneError(
                    .componentFailed, "the system does not report how much memory a process uses", at: field)
            }
            return bytes / 1e6
        }
    }

    /// Measures the memory in bytes, keyed by the kernel's names.
    private static func measure(in folder: String) async throws -> LoadingChild.Figures {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let manifest = folder + "/bookshelf.json"
        try bookshelf.json.write(to: URL(filePath: manifest))
        // Without a control socket, other commands do not find the host.
        let arguments = [
            "run", manifest, "--json", "--no-control", "--load-folder", folder + "/load", "--data", folder + "/data",
        ]
        return try await ProgramRun.with(arguments) { run in
            guard run.speaks() else {
                try run.requireSuccess()
                return [:]
            }
            let figures = try ProcessMemory.figures(ofProcess: "\(run.id)")
            run.stop()
            try run.requireSuccess()
            return figures
        }
    }

    /// The contents of `manifests/bookshelf.json`.
    private static let bookshelf: ManifestValue = [
        "manifestVersion": 1,
        "plugins": [["library": "Bookshelf"], ["library": "BooksAPIv2"], ["library": "Clock"]],
        "network": [
            "credentials": [
                "library": [
                    "type": "bearer", "hosts": ["127.0.0.1"], "token": "/token", "expires": "/expiresIn",
                    "signIn": [
                        "url": "http://127.0.0.1:8484/v2/sessions",
                        "json": ["reader": "ada", "password": "difference-engine"],
                    ],
                ]
            ]
        ],
        "managers": [
            "ClockManager": ["className": "ClockManager"],
            "LibraryManager": [
                "className": "LibraryManager",
                "uses": ["clock": "ClockManager"],
                "dataAccessController": ["className": "BookStore", "configuration": ["keep": 500]],
                "communicationController": [
                    "className": "LibraryCommunication",
                    "services": [
                        [
                            "className": "BooksService", "version": "[2.0,3.0)", "propertyName": "books",
                            "networkServiceConfiguration": [
                                "baseURL": "http://127.0.0.1:8484/v2", "credential": "library",
                            ],
                        ]
                    ],
                ],
            ],
        ],
    ]
}
