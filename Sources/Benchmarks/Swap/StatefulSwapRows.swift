import BackplaneHost

/// The rows for the waits of callers while a state of many records is carried over, natively and as JSON.
struct StatefulSwapRows: Sendable {
    private let name: String
    private let target: Target?
    private let figures: SwapFigures

    /// - Parameters:
    ///   - words: The number of records as text.
    ///   - count: The number of swaps in a process.
    ///   - target: The bound for the wait that the records add.
    private init(
        _ words: String, records: Int, isEncoded: Bool, count: Int, target: Target? = nil, in folder: String
    ) {
        name = "\(LoadedSwaps.callers) callers, \(words) records \(isEncoded ? "as JSON" : "natively")"
        self.target = target
        figures = SwapFigures(
            .stateful, SwapMeasure.Order(records: records, encodesState: isEncoded, count: count), in: folder,
            as: "stateful-\(records)-\(isEncoded ? "encoded" : "native")")
    }

    /// The rows of all sizes and both lanes.
    static func all(in folder: String) -> [Row] {
        // As JSON, a swap of a million records takes seconds.
        let sizes = [("1,000", 1_000, 20), ("100,000", 100_000, 5), ("1,000,000", 1_000_000, 1)]
        return sizes.flatMap { words, records, encoded in
            let native = StatefulSwapRows(
                words, records: records, isEncoded: false, count: 20,
                target: records == 100_000 ? .median(atMost: 1) : nil, in: folder)
            let json = StatefulSwapRows(words, records: records, isEncoded: true, count: encoded, in: folder)
            return native.rows + json.rows
        }
    }

    private var rows: [Row] {
        let empty = "\(name), wait at the gate with an empty state"
        return [
            figures.row(empty, "empty wait"),
            figures.row("\(name), wait at the gate, median", "wait", baseline: empty),
            figures.row("\(name), wait at the gate, longest", "longest"),
            figures.row("\(name), wait beyond that with an empty state", "beyond", target: target),
        ]
    }
}
