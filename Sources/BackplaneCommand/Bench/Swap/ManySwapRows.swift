import Backplane
import BackplaneHost

/// What a thousand swaps in one process leave behind.
struct ManySwapRows: Sendable {
    private let plugin: TurnstilePlugin
    private let figures: SwapFigures

    init(_ plugin: TurnstilePlugin, in folder: String) {
        self.plugin = plugin
        figures = SwapFigures(.many, SwapMeasure.Order(plugin: plugin, count: 1_000), in: folder, as: "many-\(plugin.rawValue)")
    }

    var rows: [Row] {
        let name = "1,000 swaps in \(plugin.rawValue)", before = "\(name), a call before", isSwift = plugin == .swift
        return [
            // Growth over the swaps 100 to 1,000.
            figures.row("\(name), memory of each", "memory", unit: .kilobytes, target: isSwift ? .median(atMost: 64) : nil),
            figures.row(before, "before", unit: .nanoseconds),
            figures.row("\(name), a call after", "after", unit: .nanoseconds, baseline: before, target: isSwift ? .ratio(atMost: 1.1) : nil),
            figures.row("\(name), the first hundred", "early"),
            figures.row("\(name), the last hundred", "late", baseline: "\(name), the first hundred"),
        ]
    }
}
