import Backplane
import Foundation
import Glibc

/// The rows for the processor time of an idle `backplane dev` with its application, over a tree of 10,000 files.
struct IdleDevRows: Sendable {
    private static let files = 10_000
    /// The duration of the measurement, in seconds.
    private static let seconds = 10
    private let figures: SharedFigures

    init(in folder: String) {
        figures = SharedFigures { count in
            let package = try FreshPackage(in: "\(folder)/idle")
            defer { package.remove() }
            _ = try await package.write()
            try package.fill(Self.files)
            let run = try DevRun([
                package.manifest, "--load-folder", package.path + "/.build/load", "--data",
                package.path + "/.build/data",
            ])
            defer { run.stop() }
            // Symbols of the loaded libraries are read a little later, and the first second still belongs to the start.
            try await Task.sleep(for: .seconds(2))
            let figures = try await Self.measure(run, seconds: min(count, Self.seconds))
            let builds = run.heard("buildStarted")
            try Data("new".utf8).write(to: URL(filePath: "\(package.data)/999/9.txt"))
            guard run.hears("buildStarted", after: builds) else {
                throw BackplaneError(
                    .componentFailed,
                    "expected `backplane dev` to notice a file among \(Self.files), but it did not", at: package.data
                )
            }
            return figures
        }
    }

    var rows: [Row] {
        [
            row("dev and its application", "all", target: .median(atMost: 1)), row("dev alone", "dev"),
        ]
    }

    private func row(_ what: String, _ figure: String, target: Target? = nil) -> Row {
        let name = "idle over 10,000 files: \(what)"
        return Row(name: name, unit: .percent, target: target, limit: Self.seconds, count: Self.seconds, rounds: 2) {
            [figures] count in
            try await figures.required(figure, count: count)
        }
    }

    /// Measures the use of one processor, in percent.
    private static func measure(_ run: DevRun, seconds: Int) async throws -> [String: Double] {
        let before = try run.ids.map(processorTime), start = ContinuousClock.now
        try await Task.sleep(for: .seconds(seconds))
        let time = (ContinuousClock.now - start) / .seconds(1)
        let used = zip(try run.ids.map(processorTime), before).map { ($0 - $1) / time * 100 }
        return ["all": used.reduce(0, +), "dev": used[0]]
    }

    /// Returns the processor time of a process in seconds, from fields 14 and 15 of its `stat` (proc(5)).
    private static func processorTime(of process: pid_t) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // The process name before them may contain spaces and parentheses.
        let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
            throw BackplaneError(
                .componentFailed, "the system does not report the processor time of a process",
                at: "/proc/\(process)/stat")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
