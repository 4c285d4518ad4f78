import Backplane
import BackplaneControl
import BackplaneDocuments
import BackplaneHost
import BackplaneTools
import Foundation
import TurnstileContracts

/// The rows for the latency from the linker closing a library to the first answer of its code, under `backplane dev`.
///
/// Every round has its own `backplane dev`. The library is renamed into place, as linkers do. Then calls are made
/// through the control socket until the new code answers. The figure includes the delay after which `dev` considers a
/// file complete.
struct SavedRows: Sendable {
    private static let count = 30
    private let plugin: TurnstilePlugin
    private let figures: SharedFigures

    init(_ plugin: TurnstilePlugin, in folder: String) {
        self.plugin = plugin
        figures = SharedFigures { count in
            let own = "\(folder)/saved-\(plugin.rawValue)"
            defer { try? FileManager.default.removeItem(atPath: own) }
            return try await Self.measure(plugin, in: own, count: count)
        }
    }

    var rows: [Row] {
        [
            row("median", "median", target: .median(atMost: 100)),
            row("slowest", "slowest", target: .median(atMost: 100), summary: .highest),
        ]
    }

    private func row(_ what: String, _ figure: String, target: Target, summary: Row.Summary = .median) -> Row {
        let name = "closed by the linker to first answer, \(plugin.rawValue), \(what)"
        return Row(
            name: name, unit: .milliseconds, target: target, summary: summary, limit: Self.count, count: Self.count,
            rounds: 7
        ) { [figures] count in
            try await figures.required(figure, count: count)
        }
    }

    private static func measure(_ plugin: TurnstilePlugin, in folder: String, count: Int) async throws -> [String:
        Double]
    {
        let library = try RebuiltLibrary(of: plugin.editions(), in: folder), manifest = folder + "/backplane.json"
        let value: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": .string(library.path)]],
            "managers": [TurnstilePlugin.manager: ["className": "TurnstileManager"]],
        ]
        try value.json.write(to: URL(filePath: manifest))
        let run = try DevRun([manifest, "--load-folder", folder + "/load", "--data", folder + "/data"])
        defer { run.stop() }
        let client = run.client
        var times: [Double] = []
        // The first turn is a warm-up.
        for turn in 0...count {
            let edition = 2 - turn % 2
            try library.build(edition)
            let start = ContinuousClock.now
            while try Self.edition(of: client) != edition {
                guard ContinuousClock.now - start < .seconds(30) else {
                    throw BackplaneError(
                        .componentFailed, "edition \(edition) was not active after 30 s", at: library.path)
                }
            }
            if turn > 0 { times.append((ContinuousClock.now - start) / .milliseconds(1)) }
        }
        return ["median": Sample(times).median, "slowest": Sample(times).highest]
    }

    /// Returns the edition that answers a call.
    static func edition(of client: ControlClient) throws -> Int {
        let answer = try client.ask(
            CallRequest(manager: TurnstilePlugin.manager, method: "pass", input: "1", timeout: .seconds(60)))
        return try JSONDecoder().decode(Ticket.self, from: Data(answer.output.utf8)).edition
    }
}
