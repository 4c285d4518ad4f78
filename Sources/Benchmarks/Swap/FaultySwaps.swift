import Backplane
import BackplaneHost
import BackplaneTools
import Synchronization
import TurnstileContracts

/// The measurement of swaps in which each action fails in turn: how often the old code lost its state.
enum FaultySwaps {
    /// The actions that can fail, by name and in order; after the gates have opened, only watching the probation can
    /// fail.
    static let actions: [(name: String, action: ChangeAction)] = [
        ("create", .create(0)), ("hold", .hold), ("drain", .drain), ("suspend", .suspend(0)), ("export", .export(0)),
        ("import", .import(0)),
        ("flip", .flip), ("activate", .activate(0)), ("watch", .watch),
    ]

    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let editions = try order.editions(in: folder)
        let annex = order.appliesManifest ? try AppliedSwaps.ManifestSequence.annex(for: order, in: folder) : nil
        var figures: [String: Double] = [:]
        for (name, action) in actions {
            let swapped = try await TurnstileHost(
                order.plugin, editions, in: "\(folder)/\(name)", loads: loads, lanes: order.lanes
            ) { other throws(BackplaneError) in
                if other == action { throw BackplaneError(.componentFailed, "an intentional fault") }
            }
            let manifest = annex.map { AppliedSwaps.ManifestSequence.other(than: swapped.libraryPath, annex: $0) }
            let mistakes = try await swapped.whileRunning {
                try await self.mistakes(at: action, order.count, $0, applying: manifest)
            }
            figures[name] = Double(mistakes)
        }
        return figures
    }

    /// Counts the mistakes of the rounds, and those seen by a caller that calls without a pause.
    private static func mistakes(
        at action: ChangeAction, _ rounds: Int, _ swapped: TurnstileHost, applying manifest: Manifest?
    ) async throws -> Int {
        let watch = SwapWatch(), handovers = action == .watch ? 2 : 0
        let (failures, callers) = try await TurnstileCallers.with(1, at: swapped, watch, windows: 0) {
            var failures = 0, before = try await swapped.turnstile.pass(0, swapped.call)
            for _ in 0..<rounds {
                // A swap that fails its probation hands the state over twice: there and back.
                watch.begin(handovers: handovers)
                let isUndone = await isUndone(action, swapped, applying: manifest)
                watch.end(handovers: handovers)
                let after = try await swapped.turnstile.pass(0, swapped.call)
                let isKept =
                    after.edition == 1 && after.own == before.own + 1 && after.count > before.count
                    && after.handovers == before.handovers + handovers
                if !isUndone || !isKept { failures += 1 }
                before = after
            }
            return failures
        }
        let final = try await swapped.turnstile.pass(0, swapped.call)
        return failures + callers.accounts.reduce(0) { $0 + $1.mistakes }
            + callers.miscount(of: final, others: rounds + 2)
    }

    /// Returns whether the swap failed in the expected way.
    private static func isUndone(_ action: ChangeAction, _ swapped: TurnstileHost, applying manifest: Manifest?) async
        -> Bool
    {
        do {
            let options = ChangeOptions(probation: action == .watch ? Probation(duration: .seconds(60)) : nil)
            let report =
                if let manifest { try await swapped.apply(manifest, options).report } else {
                    try await swapped.swap(options).report
                }
            return action == .watch && report.outcome == .rolledBack && report.warnings.isEmpty
        } catch {
            return action != .watch && (error as? BackplaneError)?.code == .swapFailed
        }
    }
}
