import Backplane
import BackplaneHost
import BackplaneTools

/// The rows for the lasting effects of a thousand swaps in one process.
struct ManySwapRows: Sendable {
    private let plugin: TurnstilePlugin
    private let figures, inMemory: SwapFigures

    init(_ plugin: TurnstilePlugin, in folder: String) {
        self.plugin = plugin
        let name = "many-\(plugin.rawValue)"
        figures = SwapFigures(.many, SwapMeasure.Order(plugin: plugin, count: 1_000), in: folder, as: name)
        // In memory, every copy takes its full size, which is megabytes for a Swift library.
        inMemory = SwapFigures(
            .many, SwapMeasure.Order(plugin: plugin, count: 200), in: folder, as: name + "-in-memory", loads: .inMemory)
    }

    var rows: [Row] {
        let name = "1,000 swaps in \(plugin.rawValue)", before = "\(name), a call before", isSwift = plugin == .swift
        let bound = isSwift ? Target.median(atMost: 64) : nil
        return [
            // The growth from swap 100 to 1,000, and from swap 20 to 200.
            figures.row("\(name), memory of each", "memory", unit: .kilobytes, target: bound),
            inMemory.row(
                "200 swaps in \(plugin.rawValue) with a load folder in memory, memory of each", "memory",
                unit: .kilobytes, target: bound),
            figures.row(before, "before", unit: .nanoseconds),
            figures.row(
                "\(name), a call after", "after", unit: .nanoseconds, baseline: before,
                target: isSwift ? .ratio(atMost: 1.1) : nil),
            figures.row("\(name), the first hundred", "early"),
            figures.row(
                "\(name), the last hundred", "late", baseline: "\(name), the first hundred",
                target: .median(atMost: 5)),
        ]
    }
}
