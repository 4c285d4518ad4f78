import Backplane
import BenchmarkContracts
import Synchronization

/// The reader of series at full speed, which counts what it receives.
final class SeriesReaderManager: Manager {
    typealias Provides = SeriesReading
    struct Wires: Wiring {
        let series: Wire<Series>
    }
    private let wires: Wires
    private let context: Context
    private let state = Mutex((accounts: [SeriesAccount](), tasks: [Task<Void, Never>]()))

    init(_ context: Context) { (wires, self.context) = (context.wires, context) }

    func stop() async { await end() }

    static func methods(_ table: inout Methods) {
        table.async(\.begin) { reader, count, _ in
            reader.begin(count)
            return Nothing()
        }
        table.async(\.end) { reader, _, _ in
            await reader.end()
            return Nothing()
        }
        table.sync(\.accounts) { reader, _, _ in reader.state.withLock { $0.accounts } }
    }

    private func begin(_ count: Int) {
        state.withLock { state in
            for reader in state.accounts.count..<max(count, state.accounts.count) {
                state.accounts.append(SeriesAccount(of: reader))
            }
            state.tasks += (0..<count).map { reader in Task { await self.read(reader) } }
        }
    }

    private func end() async {
        let tasks = state.withLock { state in
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func read(_ reader: Int) async {
        let place = SeriesPlace(of: reader, after: state.withLock { $0.accounts[reader].last.number })
        do {
            for try await draw in wires.series.draws(place, context.begin()) {
                state.withLock { $0.accounts[reader].note(draw) }
            }
        } catch {
            if Task.isCancelled { return }
            context.log.error("a stream has ended", metadata: ["error": "\(error)", "reader": "\(reader)"])
        }
        state.withLock { $0.accounts[reader].ended += 1 }
    }
}
