import Backplane
import BackplaneHost
import BackplaneTools
import TurnstileContracts

/// The measurement of swaps that activate another manifest each time, during calls by four callers, in milliseconds.
///
/// The turnstile moves to another plugin and back, is renamed and renamed back, and a wire to it is added and removed.
enum AppliedSwaps {
    static func figures(_ order: SwapMeasure.Order, in folder: String, loads: String) async throws -> [String: Double] {
        let annex = try ManifestSequence.annex(for: order, in: folder)
        return try await order.measure(in: folder, loads: loads) { try await figures(order, $0, annex) }
    }

    private static func figures(_ order: SwapMeasure.Order, _ swapped: TurnstileHost, _ annex: String) async throws
        -> [String: Double]
    {
        var composition = ManifestSequence(library: swapped.libraryPath, annex: annex)
        try await swapped.apply(composition.manifest)
        let usher: Remote<Turnstile> = try await swapped.host.manager(ManifestSequence.usher)
        let watch = SwapWatch()
        var ushered = 0, misled = 0
        let (swaps, busy) = try await TurnstileCallers.with(LoadedSwaps.callers, at: swapped, watch, windows: 0) {
            var swaps: [(time: Double, wait: Double)] = []
            for number in 0..<order.count {
                let change = ManifestSequence.changes[number % ManifestSequence.changes.count]
                composition.make(change)
                watch.begin(handovers: change.handovers)
                let (time, report) = try await swapped.apply(composition.manifest)
                watch.end(handovers: change.handovers)
                let isCounted = try await usher.pass(0, swapped.call).count > 0
                if isCounted { ushered += 1 }
                if isCounted != composition.isWired { misled += 1 }
                // In practice, an edit and a build lie between two swaps; the pause also lets the callers resume.
                try await Task.sleep(for: .milliseconds(2))
                swaps.append((time / .milliseconds(1), report.longestWait / .milliseconds(1)))
            }
            return swaps
        }
        let final = try await swapped.turnstile.pass(0, swapped.call)
        func sum(_ figure: (CallerAccount) -> Int) -> Double { Double(busy.accounts.reduce(0) { $0 + figure($1) }) }
        let times = Sample(swaps.map(\.time)), waits = Sample(swaps.map(\.wait))
        return [
            "answered": sum(\.answered), "failed": sum(\.failed), "twice": sum(\.twice), "wrong": sum(\.wrong),
            "disorder": sum(\.disorder), "misled": Double(misled),
            "miscount": Double(busy.miscount(of: final, others: ushered + 1)), "median": times.median,
            "p99": times.p99, "wait": waits.median, "wait p99": waits.p99,
        ]
    }

    /// The manifest of a turnstile and its caller, with the changes made so far.
    struct ManifestSequence {
        enum Change {
            case plugin, name, wire

            /// The number of times that the state of the turnstile is handed over.
            var handovers: Int { self == .wire ? 0 : 1 }
        }
        /// The changes in turn; each occurs twice, forwards and backwards.
        ///
        /// The first plugin answers as the first edition, so it is activated after an even number of handovers.
        static let changes: [Change] = [.plugin, .wire, .name, .wire, .name, .wire, .plugin, .wire]
        static let usher = "Usher"
        private static let other = "Gate"
        let library, annex: String
        private(set) var isWired = false
        private var hasMoved = false, isRenamed = false, wasRenamed = false

        init(library: String, annex: String) { (self.library, self.annex) = (library, annex) }

        mutating func make(_ change: Change) {
            wasRenamed = isRenamed
            switch change {
            case .plugin: hasMoved.toggle()
            case .name: isRenamed.toggle()
            case .wire: isWired.toggle()
            }
        }

        var manifest: Manifest {
            let names = [TurnstilePlugin.manager, Self.other], name = names[isRenamed ? 1 : 0]
            let turnstile = ManagerDefinition(
                className: "TurnstileManager", was: wasRenamed == isRenamed ? nil : names[isRenamed ? 0 : 1])
            let usher = ManagerDefinition(className: "UsherManager", uses: isWired ? ["turnstile": name] : [:])
            return Manifest(
                plugins: (hasMoved ? [annex] : [library, annex]).map { PluginReference(library: $0) },
                managers: [name: turnstile, Self.usher: usher])
        }

        /// Returns a manifest in which the turnstile is renamed and belongs to another plugin, and with its caller.
        static func other(than library: String, annex: String) -> Manifest {
            var composition = ManifestSequence(library: library, annex: annex)
            for change in [Change.plugin, .wire, .name] { composition.make(change) }
            return composition.manifest
        }

        /// Returns the library of the other plugin, prepared for swapping as required by an order.
        static func annex(for order: SwapMeasure.Order, in folder: String) throws -> String {
            let built = try BuiltLibrary.path(of: "Annex")
            if order.hasDebugInformation { return built }
            let deployed = FilePath.join(folder, "deployed-annex.so")
            try DeployedLibrary.make(of: built, at: deployed)
            return deployed
        }
    }
}
