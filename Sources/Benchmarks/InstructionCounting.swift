import Backplane
import BackplaneTools
import Foundation

/// The instruction count of a row's iterations, as measured by callgrind.
///
/// Each row runs twice in processes of its own, the second time with twice as many iterations; the difference excludes
/// startup, preparation and shutdown.
struct InstructionCounting {
    var suite: String
    /// The number of iterations of the first run.
    var iterations: Int
    var progress: ProgressLine
    /// A folder for callgrind's report.
    var folder: String

    /// Returns the rows to count: those of a selection that compare times or are derived from others, and the rows from
    /// which they are derived.
    ///
    /// - Parameters:
    ///   - selected: The selection.
    ///   - all: All rows of the suite.
    static func rows(_ selected: [Row], of all: [Row]) -> [Row] {
        let compared = selected.filter { $0.baseline != nil && $0.unit.isTime && $0.target?.subject == .ratio }
        let overheads = selected.filter { $0.overhead != nil }
        let names = Set(
            (compared + overheads).map(\.name) + compared.compactMap(\.baseline)
                + overheads.compactMap(\.overhead).flatMap { [$0.row, $0.baseline] })
        return all.filter { names.contains($0.name) }.map { row in
            var row = row
            row.unit = .instructions
            if let overhead = row.overhead { row.target = .median(atMost: overhead.bound) }
            return row
        }
    }

    /// Returns the samples of the rows that are derived from others.
    static func overheads(_ rows: [Row], _ samples: [String: Sample]) -> [String: Sample] {
        var overheads: [String: Sample] = [:]
        for row in rows {
            guard let overhead = row.overhead, let sample = samples[overhead.row],
                let baseline = samples[overhead.baseline]
            else { continue }
            overheads[row.name] = Sample([sample.median - baseline.median])
        }
        return overheads
    }

    func run(_ rows: [Row]) async throws -> [String: Sample] {
        defer { progress.clear() }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var samples: [String: Sample] = [:]
        for row in rows where row.overhead == nil {
            let count = min(iterations, row.limit / 2)
            progress.show("counting: \(row.name)")
            let few = try await instructions(of: row, count), many = try await instructions(of: row, 2 * count)
            samples[row.name] = Sample([(many - few) / Double(count)])
        }
        return samples.merging(Self.overheads(rows, samples)) { counted, _ in counted }
    }

    private func instructions(of row: Row, _ count: Int) async throws -> Double {
        let report = folder + "/callgrind.log"
        let tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file=\(report)"]
        let arguments = ["bench", suite, "--only", row.name, "--iterations", "\(count)"]
        do { try await ProgramRun.with(arguments, under: tool) { try $0.requireSuccess() } } catch {
            guard let words = Self.complaint(in: (try? String(contentsOfFile: report, encoding: .utf8)) ?? "") else {
                throw error
            }
            throw BackplaneError(.componentFailed, "valgrind could not run this program: \(words)", at: row.name)
        }
        guard let number = Self.collected(in: try String(contentsOfFile: report, encoding: .utf8)) else {
            throw BackplaneError(.componentFailed, "callgrind reported no number of instructions", at: row.name)
        }
        return number
    }

    /// Returns the number in a report, whose line is `==1234== Collected : 56789`.
    static func collected(in report: String) -> Double? {
        for line in report.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 4, words[1] == "Collected" else { continue }
            return Double(words[3])
        }
        return nil
    }

    /// Returns valgrind's own errors in a report, as one line; `nil` if there are none.
    ///
    /// Their lines are `==1234== Valgrind: debuginfo reader: …`.
    static func complaint(in report: String) -> String? {
        let lines = report.split(separator: "\n").compactMap { line in
            line.range(of: "== Valgrind: ").map { line[$0.upperBound...].trimmingCharacters(in: .whitespaces) }
        }
        return lines.isEmpty ? nil : lines.joined(separator: " ")
    }
}
