import Backplane
import BackplaneHost

/// The figures of one kind of child, a child a round, as rows.
struct SwapFigures: Sendable {
    private let figures: SharedFigures
    private let count: Int

    /// Where libraries are copied to before they are loaded: by default, as by a host's, on a disk.
    enum Loads { case inMemory, onDisk }

    /// - Parameters:
    ///   - folder: of the suite; beside it is one in memory.
    ///   - name: of the child's folders.
    init(_ measure: SwapMeasure, _ order: SwapMeasure.Order, in folder: String, as name: String, loads place: Loads = .onDisk) {
        let own = "\(folder)/\(name)", memory = FilePath.join(FilePath.folder(of: folder), "memory")
        let loads = place == .inMemory ? "\(memory)/\(name)" : own + "-loads"
        count = order.count
        figures = SharedFigures { count in
            var order = order
            order.count = count
            return try await measure.figuresOfChild(order, in: own, loads: loads)
        }
    }

    /// - Parameter figure: what the child calls it.
    func row(
        _ name: String, _ figure: String, unit: Row.Unit = .milliseconds, baseline: String? = nil, target: Target? = nil, summary: Row.Summary = .median
    ) -> Row {
        Row(name: name, unit: unit, baseline: baseline, target: target, summary: summary, limit: count, count: count, rounds: 7) { [figures] count in
            guard let value = try await figures.next(figure, count: count) else {
                throw BackplaneError(.componentFailed, "the child that swaps gave no figure", at: name)
            }
            return value
        }
    }

    /// What must never happen.
    func never(_ name: String, _ figure: String, unit: Row.Unit = .calls) -> Row {
        row(name, figure, unit: unit, target: .median(atMost: 0), summary: .highest)
    }
}
