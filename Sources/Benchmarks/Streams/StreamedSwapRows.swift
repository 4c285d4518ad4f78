import Backplane
import BackplaneHost

/// The rows for swaps under resumable streams: the counts of their reader, and the durations of the swaps.
struct StreamedSwapRows: Sendable {
    private let lane: String
    private let figures: SwapFigures

    init(_ lanes: LaneRule, in folder: String) {
        let isEncoded = lanes == .encoded
        lane = isEncoded ? "encoded" : "native"
        figures = SwapFigures(
            .streamed, SwapMeasure.Order(isEncoded: isEncoded, count: 200), in: folder, as: "streamed-\(lane)")
    }

    var rows: [Row] {
        let name = "swaps under \(StreamedSwaps.streams) streams \(lane)"
        let control = "swaps under \(StreamedSwaps.streams) callers \(lane), median"
        return [
            figures.row("\(name), elements read", "read", unit: .elements),
            figures.never("\(name), elements lost", "lost", unit: .elements),
            figures.never("\(name), elements repeated", "repeated", unit: .elements),
            figures.never("\(name), elements out of order", "disorder", unit: .elements),
            figures.never("\(name), streams ended", "ended", unit: .failures),
            figures.row(control, "control median"),
            figures.row("\(name), median", "median", baseline: control, target: .ratio(atMost: 1.2)),
        ]
    }
}
