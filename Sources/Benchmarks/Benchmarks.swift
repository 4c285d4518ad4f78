import ArgumentParser
import Backplane
import BackplaneTools
import Foundation
import Glibc

/// The program `benchmarks`, which `make bench` builds and runs.
@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmarks", abstract: "Measure the costs of Backplane and of comparable alternatives.",
        subcommands: [Bench.self, BenchChild.self], defaultSubcommand: Bench.self)

    /// Measures suites.
    struct Bench: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Measure the costs of Backplane and of comparable alternatives.",
            discussion: """
                What a figure is compared with is measured in the same rounds, and the figures are medians over the \
                rounds. They are meaningful in a release build only (make bench). The exit code is 0 whether or not \
                the targets are met.

                EXAMPLES
                  benchmarks
                  benchmarks bench calls --only encoded
                  benchmarks bench swap --only gap
                  benchmarks bench store --json > store.json
                """)

        @Argument(help: "The suite: \(BenchSuite.all.map(\.name).joined(separator: ", ")) (default: all).")
        var suite: String?
        @Option(help: ArgumentHelp("Measure only the figures whose names contain this text.", valueName: "text"))
        var only: String?
        @Flag(help: "Measure as little as possible, just to see that everything runs.") var quick = false
        @Flag(help: "Print the figures as JSON.") var json = false

        func validate() throws {
            guard let suite, !BenchSuite.all.contains(where: { $0.name == suite }) else { return }
            let names = BenchSuite.all.map(\.name).joined(separator: ", ")
            throw ValidationError("unknown suite `\(suite)`; expected one of: \(names)")
        }

        func run() async throws {
            warn()
            let results: [RowResult]
            do {
                let signals = try StopSignals(), folder = try TemporaryFolder(for: "bench")
                defer { folder.remove() }
                let work = Task { try await measure(in: folder.path) }
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
                if work.isCancelled { throw ExitCode(130) }
                results = try outcome.get()
            } catch let exit as ExitCode {
                throw exit
            } catch {
                throw ExitCode(Output.fail(error))
            }
            guard !results.isEmpty else {
                throw ExitCode(Output.refuse("no figure's name contains `\(only ?? "")`"))
            }
            if json { return Output.json(results) }
            for line in RowResult.table(results, colour: Terminal.wantsColour) { Output.line(line) }
            Output.line("\n" + RowResult.summary(results))
        }

        private func warn() {
            #if DEBUG
            Output.remark(
                "warning: the figures of a debug build are meaningless; build with `swift build -c release`")
            #endif
            var load = 0.0
            let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
            if !quick, getloadavg(&load, 1) == 1, load > Double(processors) / 2 {
                let busy = "load \(Int(load.rounded(.up))) on \(counted(processors, "processor"))"
                Output.remark("warning: this machine is busy (\(busy)); figures will vary")
            }
        }

        /// Runs on the global executor, as a server's code does, and never on the main actor.
        @concurrent
        private func measure(in folder: String) async throws -> [RowResult] {
            var results: [RowResult] = []
            for suite in BenchSuite.all where self.suite == nil || self.suite == suite.name {
                let own = "\(folder)/\(suite.name)"
                try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
                let opened = try await suite.open(own)
                do { results += try await measure(opened.measurements, of: suite.name) } catch {
                    await opened.close()
                    throw error
                }
                await opened.close()
            }
            return results
        }

        /// Measures in rounds, in each of which everything is measured once.
        private func measure(_ all: [Measurement], of suite: String) async throws -> [RowResult] {
            let progress = ProgressLine(), chosen = all.filter { $0.rows.contains(where: isChosen) }
            defer { progress.clear() }
            var counts: [Int] = [], figures = chosen.map { _ in [[Figure]]() }
            for measurement in chosen {
                progress.show("preparing: \(measurement.rows[0].name)")
                try Task.checkCancellation()
                counts.append(quick ? min(measurement.count ?? 20, 20) : try await measurement.iterations())
            }
            let rounds = quick ? 1 : chosen.map(\.rounds).max() ?? 0
            for round in 1...max(1, rounds) {
                for (index, measurement) in chosen.enumerated() where round <= measurement.rounds {
                    progress.show("\(suite), round \(round) of \(rounds): \(measurement.rows[0].name)")
                    try Task.checkCancellation()
                    figures[index].append(try await measurement.figures(counts[index]))
                }
            }
            return zip(chosen, figures).flatMap { measurement, rounds in
                measurement.rows.enumerated().filter { isChosen($0.element) }.map { index, row in
                    RowResult(row, in: suite, rounds.map { $0[index] })
                }
            }
        }

        private func isChosen(_ row: Row) -> Bool {
            only.map { row.name.lowercased().contains($0.lowercased()) } ?? true
        }
    }

    /// The child process of ``Bench``, for what can be measured only once in a process, and for servers.
    struct BenchChild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: Child.command, shouldDisplay: false)

        @Argument var task: String
        @Argument var folder: String

        func run() async throws {
            guard let task = Child.tasks[task] else {
                let names = Child.tasks.keys.sorted().joined(separator: ", ")
                throw ExitCode(Output.refuse("unknown task `\(task)`; expected one of: \(names)"))
            }
            do { try await task(folder) } catch { throw ExitCode(Output.fail(error)) }
        }
    }
}
