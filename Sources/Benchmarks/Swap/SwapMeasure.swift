import Backplane
import BackplaneHost
import BackplaneTools
import Foundation

/// A measurement of swaps in a child process.
///
/// Generations are never unloaded, so every round has a separate process.
enum SwapMeasure: String, CaseIterable, Sendable {
    /// Swaps without calls.
    case idle = "swap-idle"
    /// Swaps during calls by four callers at full speed.
    case loaded = "swap-loaded"
    /// Swaps with another manifest, during calls by four callers at full speed.
    case applied = "swap-applied"
    /// The lasting effects of many swaps.
    case many = "swap-many"
    /// Swaps in which each action fails in turn.
    case faulty = "swap-faulty"
    /// Swaps of a component with many records, during calls by four callers at full speed.
    case stateful = "swap-stateful"
    /// A swap during one long call, and during calls by four callers at full speed.
    case long = "swap-long"
    /// Swaps of components with work in progress: long calls, exchanges and timers.
    case errands = "swap-errands"
    /// Swaps during four streams, and during calls by four callers, at full speed.
    case streamed = "swap-streamed"

    /// The options of a child.
    struct Order: Codable, Sendable {
        var plugin = TurnstilePlugin.swift
        var isEncoded = false
        /// A Boolean value that indicates whether the library is swapped as built.
        ///
        /// Otherwise it is stripped of debug information, as in a deployment.
        var hasDebugInformation = false
        /// A Boolean value that indicates whether each swap also activates another manifest.
        var appliesManifest = false
        /// The number of records in the state.
        var records = 0
        /// A Boolean value that indicates whether the state crosses as JSON.
        var encodesState = false
        /// The number of swaps.
        var count: Int

        var lanes: LaneRule { isEncoded ? .encoded : .fastest }

        /// Starts a host with the plugin, measures, and always stops the host.
        func measure(
            in folder: String, loads: String, _ figures: (TurnstileHost) async throws -> [String: Double]
        ) async throws -> [String: Double] {
            try await TurnstileHost(plugin, editions(in: folder), in: folder + "/host", loads: loads, lanes: lanes)
                .whileRunning(figures)
        }

        /// Returns the libraries of the plugin, prepared for swapping.
        func editions(in folder: String) throws -> [String] { try deployed(plugin.editions(), in: folder) }

        /// Returns two builds of one library, prepared for swapping, which differ in an unused byte.
        func twins(of name: String, in folder: String) throws -> [String] {
            let first = try deployed([BuiltLibrary.path(of: name)], in: folder)[0]
            let second = FilePath.join(folder, "second-" + FilePath.name(of: first))
            try FileManager.default.copyItem(atPath: first, toPath: second)
            let file = try FileHandle(forWritingTo: URL(filePath: second))
            defer { try? file.close() }
            try file.seekToEnd()
            try file.write(contentsOf: [0])
            return [first, second]
        }

        /// Returns built libraries, prepared for swapping.
        func deployed(_ built: [String], in folder: String) throws -> [String] {
            if hasDebugInformation { return built }
            return try built.map { library in
                let deployed = FilePath.join(folder, "deployed-" + FilePath.name(of: library))
                if !FileManager.default.fileExists(atPath: deployed) {
                    try DeployedLibrary.make(of: library, at: deployed)
                }
                return deployed
            }
        }
    }

    /// Runs the measurement in a child, and always cleans up.
    ///
    /// - Parameters:
    ///   - folder: A folder that does not exist yet.
    ///   - loads: The folder for the copies that are loaded.
    func figuresOfChild(_ order: Order, in folder: String, loads: String) async throws -> [String: Double] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { for path in [folder, loads] { try? FileManager.default.removeItem(atPath: path) } }
        try JSONEncoder().encode(order).write(to: URL(filePath: Self.path(in: folder)))
        return try await MeasuringChild.figures(rawValue, in: folder, loads: loads)
    }

    /// Runs the measurement in the child.
    func figures(in folder: String, loads: String) async throws -> [String: Double] {
        let order = try JSONDecoder().decode(Order.self, from: Data(contentsOf: URL(filePath: Self.path(in: folder))))
        switch self {
        case .idle: return try await IdleSwaps.figures(order, in: folder, loads: loads)
        case .loaded: return try await LoadedSwaps.figures(order, in: folder, loads: loads)
        case .applied: return try await AppliedSwaps.figures(order, in: folder, loads: loads)
        case .many: return try await ManySwaps.figures(order, in: folder, loads: loads)
        case .faulty: return try await FaultySwaps.figures(order, in: folder, loads: loads)
        case .stateful: return try await StatefulSwaps.figures(order, in: folder, loads: loads)
        case .long: return try await LongCallSwaps.figures(order, in: folder, loads: loads)
        case .errands: return try await ErrandSwaps.figures(order, in: folder, loads: loads)
        case .streamed: return try await StreamedSwaps.figures(order, in: folder, loads: loads)
        }
    }

    private static func path(in folder: String) -> String { folder + "/order.json" }
}
