import Backplane
import BackplaneHost
import BackplaneProcesses
import BackplaneTerminal
import Glibc

/// The command `backplane bench`: measures the costs of Backplane and of comparable alternatives in one run.
package struct BenchCommand: Sendable {
    /// The name of the suite, or `nil` for all suites.
    package var suite: String?
    /// A part of the names of the rows to measure, or `nil` for all rows.
    package var only: String?
    /// The number of iterations of each row in a single round without baselines, for callgrind.
    package var iterations: Int?
    /// A Boolean value that indicates whether callgrind counts the instructions of rows that compare times.
    ///
    /// Callgrind needs a program without debug information (`strip -g`) if the compilers are newer than callgrind.
    package var countsInstructions: Bool
    /// The number of iterations for which instructions are counted, unless ``iterations`` is set.
    private static let counted = 1_000
    package var quick: Bool
    package var json: Bool

    package init(
        suite: String?, only: String?, iterations: Int?, countsInstructions: Bool, quick: Bool, json: Bool
    ) {
        (self.suite, self.only, self.iterations) = (suite, only, iterations)
        self.countsInstructions = countsInstructions
        (self.quick, self.json) = (quick, json)
    }

    package func run() async -> Int32 {
        guard let suites = Self.suites(named: suite) else {
            return Output.refuse(
                "unknown suite `\(suite ?? "")`; expected one of: \(BenchSuite.all.map(\.name).joined(separator: ", "))"
            )
        }
        if let iterations, iterations < 1 {
            return Output.refuse("--iterations: expected a number above 0, found \(iterations)")
        }
        if quick, countsInstructions { return Output.refuse("--quick and --instructions cannot be combined") }
        if quick, iterations != nil { return Output.refuse("--quick and --iterations cannot be combined") }
        #if DEBUG
        Output.remark(
            "warning: the figures of a debug build are meaningless; build with `swift build -c release`")
        #endif
        if effort == .full, let load = Machine.load, load.isBusy {
            Output.remark("warning: this machine is busy (\(load)); figures will vary")
        }
        do {
            let signals = try StopSignals(), folder = try BenchFolder()
            defer { folder.remove() }
            let work = Task { try await measure(suites, in: folder.path) }
            // An interrupted run ends after the current measurement and cleans up. It does not wait longer than a
            // second.
            let interruption = Task {
                guard await signals.next() != nil else { return }
                work.cancel()
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                folder.removeInUse()
                _exit(130)
            }
            defer { interruption.cancel() }
            let outcome = await work.result
            if work.isCancelled { return 130 }
            let results = try outcome.get()
            guard !results.isEmpty else { return Output.refuse("no row's name contains `\(only ?? "")`") }
            report(results)
            return 0
        } catch {
            return Output.fail(error)
        }
    }

    private static func suites(named name: String?) -> [BenchSuite]? {
        guard let name else { return BenchSuite.all }
        return BenchSuite.all.first { $0.name == name }.map { [$0] }
    }

    private func measure(_ suites: [BenchSuite], in folder: String) async throws -> [RowResult] {
        var results: [RowResult] = []
        for suite in suites { results += try await measure(suite, in: "\(folder)/\(suite.name)") }
        return results
    }

    private func measure(_ suite: BenchSuite, in folder: String) async throws -> [RowResult] {
        let opened = try await suite.open(folder)
        if countsInstructions {
            await opened.close()
            let rows = InstructionCounting.rows(
                Selection.rows(opened.rows, matching: only, reference: suite.reference), of: opened.rows)
            let samples = try await InstructionCounting(
                suite: suite.name, iterations: iterations ?? Self.counted, progress: ProgressLine(), folder: folder
            ).run(rows)
            return rows.compactMap { RowResult($0, in: suite.name, samples, reference: suite.reference) }
        }
        let rows =
            iterations == nil
            ? Selection.rows(opened.rows, matching: only, reference: suite.reference)
            : Selection.matches(opened.rows, only)
        let samples: [String: Sample]
        do {
            samples = try await Measuring(effort: effort, progress: ProgressLine()).run(rows)
        } catch {
            await opened.close()
            throw error
        }
        await opened.close()
        if !rows.isEmpty, let remark = opened.remark { Output.remark("\(suite.name): \(remark)") }
        return rows.compactMap { RowResult($0, in: suite.name, samples, reference: suite.reference) }
    }

    private var effort: Effort {
        if let iterations { return .exactly(iterations) }
        if countsInstructions { return .exactly(Self.counted) }
        return quick ? .quick : .full
    }

    private func report(_ results: [RowResult]) {
        if json {
            Output.json(results)
        } else {
            for line in ResultTable.lines(results, colour: Terminal.wantsColour) { Output.line(line) }
            Output.line("\n" + ResultTable.summary(results, rounds: effort.rounds))
        }
    }
}
