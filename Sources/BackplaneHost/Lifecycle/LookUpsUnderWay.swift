import Backplane

/// The lookups in progress for which components wait.
final class LookUpsUnderWay {
    typealias Found = Result<RunningComponent, BackplaneError>

    private struct LookUp {
        var manager: String
        /// The node that requests the lookup, followed by those on whose behalf it does so.
        var waiting: [LiveNode]
        var continuation: UnsafeContinuation<Found, Never>
    }
    private let live: LiveComposition
    private var lookUps: [Int: LookUp] = [:]
    private var last = 0

    init(_ live: LiveComposition) { self.live = live }

    var isEmpty: Bool { lookUps.isEmpty }

    /// Waits for the end of a lookup.
    ///
    /// - Parameters:
    ///   - waiting: The node that requests the lookup, followed by those on whose behalf it does so.
    ///   - start: A function that starts the lookup with this number; not called if it is abandoned immediately.
    func wait(for manager: String, by waiting: [LiveNode], _ start: (Int) -> Void) async -> Found {
        last += 1
        let id = last
        return await withUnsafeContinuation { continuation in
            lookUps[id] = LookUp(manager: manager, waiting: waiting, continuation: continuation)
            giveUpHopeless()
            if lookUps[id] != nil { start(id) }
        }
    }

    func end(_ lookUp: Int, _ found: Found) {
        lookUps.removeValue(forKey: lookUp)?.continuation.resume(returning: found)
    }

    /// Ends the lookups that can succeed only after a change that itself waits for the requesting nodes.
    func giveUpHopeless() {
        guard live.pause != nil else { return }
        for (id, lookUp) in lookUps where lookUp.waiting.contains(where: \.isStopping) {
            guard let provider = live.loaded.plan.managers[lookUp.manager].map({ live.nodes[$0] }),
                provider.waits(where: live.isGone) != nil
            else { continue }
            end(id, .failure(.askerStopped))
        }
    }

    /// Ends the lookups of a component that has no more callers.
    func giveUp(of node: LiveNode) {
        for (id, lookUp) in lookUps where lookUp.waiting.first === node { end(id, .failure(.askerStopped)) }
    }
}
