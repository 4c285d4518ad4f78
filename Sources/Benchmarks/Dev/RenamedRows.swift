import Backplane
import BackplaneControl
import BackplaneDocuments
import BackplaneHost
import BackplaneTools
import Foundation
import TurnstileContracts

/// The rows for the latency from the linker closing a library to the first answer of a renamed class.
///
/// The manifest with the new name is saved first and refused, because the active code does not have the class. The
/// library is then swapped in together with it.
struct RenamedRows: Sendable {
    private static let count = 30
    private let figures: SharedFigures

    init(in folder: String) {
        figures = SharedFigures { count in
            let own = "\(folder)/renamed"
            defer { try? FileManager.default.removeItem(atPath: own) }
            return try await Self.measure(in: own, count: count)
        }
    }

    var rows: [Row] {
        [row("median", "median", summary: .median), row("slowest", "slowest", summary: .highest)]
    }

    private func row(_ what: String, _ figure: String, summary: Row.Summary) -> Row {
        Row(
            name: "closed by the linker to the answer of a renamed class, \(what)", unit: .milliseconds,
            target: .median(atMost: 100), summary: summary, limit: Self.count, count: Self.count, rounds: 7
        ) { [figures] count in
            try await figures.required(figure, count: count)
        }
    }

    private static func measure(in folder: String, count: Int) async throws -> [String: Double] {
        let libraries = try ["TurnstileInC1", "BarrierInC"].map { name throws(BackplaneError) in
            try BuiltLibrary.path(of: name)
        }
        let library = try RebuiltLibrary(of: libraries, in: folder), manifest = folder + "/backplane.json"
        func save(_ className: String) throws {
            let value: ManifestValue = [
                "manifestVersion": 1, "plugins": [["library": .string(library.path)]],
                "managers": [TurnstilePlugin.manager: ["className": .string(className)]],
            ]
            try value.json.write(to: URL(filePath: manifest), options: .atomic)
        }
        let classes = ["TurnstileManager", "BarrierManager"]
        try save(classes[0])
        let run = try DevRun([manifest, "--load-folder", folder + "/load", "--data", folder + "/data"])
        defer { run.stop() }
        let client = run.client
        var times: [Double] = []
        // The first turn is a warm-up.
        for turn in 0...count {
            let edition = 2 - turn % 2, refusals = run.heard("refused")
            try save(classes[edition - 1])
            guard run.hears("refused", after: refusals) else {
                throw BackplaneError(.componentFailed, "the manifest alone was not refused", at: manifest)
            }
            try library.build(edition)
            let start = ContinuousClock.now
            while try SavedRows.edition(of: client) != edition {
                guard ContinuousClock.now - start < .seconds(30) else {
                    throw BackplaneError(
                        .componentFailed, "edition \(edition) was not active after 30 s", at: library.path)
                }
            }
            if turn > 0 { times.append((ContinuousClock.now - start) / .milliseconds(1)) }
        }
        return ["median": Sample(times).median, "slowest": Sample(times).highest]
    }
}
