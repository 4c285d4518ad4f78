import Backplane
import BackplaneHost

/// The figures of one kind of child process, which runs once in each round.
struct SwapFigures: Sendable {
    private let figures: SharedFigures
    private let count: Int
    private let rounds: Int

    /// The file system to which libraries are copied; on a disk by default, as in a host.
    enum Loads { case inMemory, onDisk }

    /// Creates the figures of a measurement.
    ///
    /// - Parameters:
    ///   - folder: The folder of the suite, next to which there is one in memory.
    ///   - name: The name of the child's folders.
    ///   - rounds: The maximum number of rounds.
    init(
        _ measure: SwapMeasure, _ order: SwapMeasure.Order, in folder: String, as name: String,
        loads place: Loads = .onDisk, rounds: Int = 7
    ) {
        let own = "\(folder)/\(name)", memory = FilePath.join(FilePath.folder(of: folder), "memory")
        let loads = place == .inMemory ? "\(memory)/\(name)" : own + "-loads"
        (count, self.rounds) = (order.count, rounds)
        figures = SharedFigures { count in
            var order = order
            order.count = count
            return try await measure.figuresOfChild(order, in: own, loads: loads)
        }
    }

    /// Creates a row.
    ///
    /// - Parameter figure: The name of the figure in the child's output.
    func row(
        _ name: String, _ figure: String, unit: Row.Unit = .milliseconds, baseline: String? = nil,
        target: Target? = nil, summary: Row.Summary = .median
    ) -> Row {
        Row(
            name: name, unit: unit, baseline: baseline, target: target, summary: summary, limit: count, count: count,
            rounds: rounds
        ) { [figures] count in
            guard let value = try await figures.next(figure, count: count) else {
                throw BackplaneError(.componentFailed, "the swapping process reported no result", at: name)
            }
            return value
        }
    }

    /// Creates a row for an event that must not occur.
    func never(_ name: String, _ figure: String, unit: Row.Unit = .calls) -> Row {
        row(name, figure, unit: unit, target: .median(atMost: 0), summary: .highest)
    }
}
