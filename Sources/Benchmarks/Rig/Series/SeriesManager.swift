import Backplane
import BenchmarkContracts
import Synchronization

/// The provider of series, whose state is the draws that it can repeat.
final class SeriesManager: Manager, StatefulComponent {
    typealias Provides = Series
    struct State: Codable, Sendable {
        var windows: [Int: SeriesWindow] = [:]
        var calls = 0
    }
    private let state = Mutex((kept: State(), isSuspended: false))

    init(_ context: Context) {}

    // The state must not change after its export, so no draw is made from then on.
    func suspend() { state.withLock { $0.isSuspended = true } }
    func resume() { state.withLock { $0.isSuspended = false } }

    func exportState() -> State { state.withLock { $0.kept } }
    func importState(_ state: State) { self.state.withLock { $0.kept = state } }

    static func methods(_ table: inout Methods) {
        table.stream(\.draws) { series, place, draws, _ in
            var last = place.last
            while true {
                let draw = try series.draw(after: last, for: place.reader)
                try await draws.send(draw)
                last = draw.number
            }
        }
        table.async(\.pass) { series, _, _ in series.pass() }
    }

    private func draw(after last: Int, for reader: Int) throws -> Draw {
        try state.withLock { state in
            guard !state.isSuspended else { throw CancellationError() }
            let draw = state.kept.windows[reader, default: SeriesWindow(of: reader)].draw(after: last)
            guard let draw else { throw Forgotten(last: last) }
            return draw
        }
    }

    private func pass() -> Int {
        state.withLock { state in
            state.kept.calls += 1
            return state.kept.calls
        }
    }

    struct Forgotten: ComponentError {
        var last: Int
        var code: String { "series.forgotten" }
        var message: String { "the draw after number \(last) can no longer be given" }
    }
}
