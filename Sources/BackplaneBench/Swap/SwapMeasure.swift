import Backplane
import BackplaneHost
import BackplaneTurnstile
import Foundation

/// What one child measures of swaps: generations are never unloaded, so every round has a process of its own.
enum SwapMeasure: String, CaseIterable, Sendable {
    /// Nobody calls.
    case idle = "swap-idle"
    /// Four callers at full speed.
    case loaded = "swap-loaded"
    /// What many swaps leave behind.
    case many = "swap-many"
    /// One action after the other fails.
    case faulty = "swap-faulty"

    /// What a child is told.
    struct Order: Codable, Sendable {
        var plugin = TurnstilePlugin.swift
        var isEncoded = false
        /// Is it swapped as it was built? Otherwise as one deploys it.
        var hasDebugInformation = false
        /// How many swaps.
        var count: Int

        var lanes: LaneRule { isEncoded ? .encoded : .fastest }

        /// The libraries of the plugin, as they are swapped.
        func editions(in folder: String) throws -> [String] {
            let built = try plugin.editions()
            if hasDebugInformation { return built }
            return try built.map { library in
                let deployed = FilePath.join(folder, "deployed-" + FilePath.name(of: library))
                if !FileManager.default.fileExists(atPath: deployed) { try DeployedLibrary.make(of: library, at: deployed) }
                return deployed
            }
        }
    }

    /// Has a child measure, and leaves nothing of it, however it ended.
    ///
    /// - Parameters:
    ///   - folder: one that is not there.
    ///   - loads: for the copies that are loaded.
    func figuresOfChild(_ order: Order, in folder: String, loads: String) async throws -> [String: Double] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { for path in [folder, loads] { try? FileManager.default.removeItem(atPath: path) } }
        try JSONEncoder().encode(order).write(to: URL(filePath: Self.path(in: folder)))
        return try await MeasuringChild.figures(rawValue, in: folder, loads: loads)
    }

    /// What the child does.
    func figures(in folder: String, loads: String) async throws -> [String: Double] {
        let order = try JSONDecoder().decode(Order.self, from: Data(contentsOf: URL(filePath: Self.path(in: folder))))
        switch self {
        case .idle: return try await IdleSwaps.figures(order, in: folder, loads: loads)
        case .loaded: return try await LoadedSwaps.figures(order, in: folder, loads: loads)
        case .many: return try await ManySwaps.figures(order, in: folder, loads: loads)
        case .faulty: return try await FaultySwaps.figures(order, in: folder, loads: loads)
        }
    }

    private static func path(in folder: String) -> String { folder + "/order.json" }
}
