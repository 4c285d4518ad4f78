import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools
import Foundation

/// The rows for the latency from a crash of a plugin to the line that names it, under `backplane dev`.
///
/// A stream with a negative number of elements crashes the process, because an invalid range traps in Swift. The figure
/// includes the request for that stream. Swift's backtrace is enabled, and follows the line.
struct CrashRows: Sendable {
    private static let count = 5
    private static let library = "Benchmark", plugin = "org.backplane.benchmark"
    private let figures: SharedFigures

    init(in folder: String) {
        figures = SharedFigures { count in
            let own = "\(folder)/crash"
            defer { try? FileManager.default.removeItem(atPath: own) }
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            var times: [Double] = []
            for _ in 0..<count { times.append(try await Self.measure(in: own)) }
            return ["median": Sample(times).median, "slowest": Sample(times).highest]
        }
    }

    var rows: [Row] {
        [row("median", summary: .median), row("slowest", summary: .highest)]
    }

    private func row(_ figure: String, summary: Row.Summary) -> Row {
        Row(
            name: "crash to the line that names its plugin, \(figure)", unit: .milliseconds,
            target: .median(atMost: 100), summary: summary, limit: Self.count, count: Self.count, rounds: 3
        ) { [figures] count in
            try await figures.required(figure, count: count)
        }
    }

    /// Starts an application, crashes it by a call, and returns the time until its line appears, in milliseconds.
    private static func measure(in folder: String) async throws -> Double {
        let manifest = folder + "/backplane.json"
        let value: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": .string(try BuiltLibrary.path(of: library))]],
            "managers": ["Benchmark": ["className": "BenchmarkManager"]],
        ]
        try value.json.write(to: URL(filePath: manifest))
        let run = try DevRun([manifest, "--load-folder", folder + "/load", "--data", folder + "/data"])
        defer { run.stop() }
        let client = run.client, start = ContinuousClock.now
        // The connection closes without an answer, after the backtrace.
        Thread.detachNewThread {
            let request = CallRequest(manager: "Benchmark", method: "numbers", input: "-1", timeout: .seconds(60))
            _ = try? client.ask(StreamRequest(request, limit: nil))
        }
        guard let words = run.lastWords(), words.line.contains("of \(plugin), generation 1") else {
            throw BackplaneError(
                .componentFailed, "expected a line that names \(plugin), found \(run.lastWords()?.line ?? "none")",
                at: manifest)
        }
        return (words.time - start) / .milliseconds(1)
    }
}
