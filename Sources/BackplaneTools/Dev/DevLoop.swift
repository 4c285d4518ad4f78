/// The state machine of `backplane dev`: decides on the next actions without performing them.
///
/// A library is swapped as soon as the linker has closed it. If the host refuses the library while others are still
/// being built, all of them are swapped together, because a changed contract rebuilds several plugins that fit only
/// each other. If calls hold a swap up for too long, the host waits for the calls in the background, until the next
/// request.
struct DevLoop: Sendable {
    enum Event: Sendable, Hashable {
        /// The reading of package descriptions has started or ended; until it ends, the products are unknown.
        case reading, read
        /// The complete list of products that the manifest needs.
        case needed([DevPackage.Product])
        case changed([DevPackage.Product])
        case built(BuildEnd)
        /// The library files that are complete and have changed.
        case libraries(Set<String>)
        case manifest
        case hostUp
        case hostEnded
        /// The host answered the last request.
        case answered(Answer)
        /// The host answered the request that waits for long calls.
        case waited(Answer)
        /// The user requested the previous code of a plugin.
        case rollBack(plugin: String)
        /// The user requested a restart of the host.
        case restart
    }

    enum Answer: Sendable, Hashable {
        case done
        /// The libraries do not fit the active ones, which may change.
        case misfit
        /// A library is incomplete because it is being written.
        case unfinished
        /// Calls that have not ended hold the swap up.
        case held
        case failed
    }

    enum BuildEnd: String, Codable, Sendable {
        case succeeded, failed, cancelled
    }

    enum Action: Sendable, Hashable {
        case build(DevPackage.Product), cancelBuild
        case startHost, endHost
        case swap([String]), apply, rollBack(plugin: String)
        /// A swap of libraries together with the manifest.
        case swapApplying([String])
        /// A swap that waits for long calls, and gives way to any other request.
        case swapWaiting([String], applying: Bool)
        /// A message to the user about why the last request failed.
        case showRefusal
    }
    private enum HostState { case none, starting, up, ended, ending }
    private enum Ask {
        case swap(Set<String>, isNew: Bool, duringBuild: Bool)
        case both(Set<String>), apply(isNew: Bool), rollBack
    }
    private enum ManifestState { case active, new, refused, worthTrying }

    private(set) var building: DevPackage.Product?
    private var isCancelling = false
    private var waiting: [DevPackage.Product] = []
    /// The identifiers of products that failed to build; their other properties may change.
    private var failed: Set<String> = []
    private var host = HostState.none
    private var asked: Ask?
    private var newLibraries: Set<String> = []
    private var manifest = ManifestState.active
    private var readings = 0
    private var rollBacks: [String] = []
    private var refusals = Refusals()
    /// The libraries whose swap long calls hold up, whether the manifest belongs to them, and whether the host waits.
    private var held: Set<String> = [], isHeldManifest = false, isWaiting = false
    /// The libraries that the host refused together with the manifest, and that may fit the active one.
    private var alone: Set<String> = []

    private var isBuilt: Bool { building == nil && waiting.isEmpty && readings == 0 }
    private var isWorthStarting: Bool { isBuilt && failed.isEmpty }
    private var hasNews: Bool { !newLibraries.isEmpty || manifest == .new }
    var isHostUp: Bool { host == .up }

    /// Processes an event.
    ///
    /// - Returns: The resulting actions, in order.
    mutating func take(_ event: Event) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .reading: readings += 1
        case .read: readings -= 1
        case .needed(let products):
            failed.formIntersection(products.map(\.id))
            waiting = waiting.compactMap { old in products.first { $0.id == old.id } }
        case .changed(let products):
            for product in products where !waiting.contains(product) { waiting.append(product) }
            if let building, products.contains(building), !isCancelling {
                isCancelling = true
                actions.append(.cancelBuild)
            }
        case .built(let end): take(end)
        case .libraries(let libraries): newLibraries.formUnion(libraries)
        case .manifest: manifest = .new
        case .hostUp: if host == .starting { host = .up }
        case .hostEnded:
            host = host == .ending ? .none : .ended
            (asked, held, isWaiting) = (nil, [], false)
        case .answered(let answer): if answered(answer) { actions.append(.showRefusal) }
        case .waited(let answer): if waited(answer) { actions.append(.showRefusal) }
        case .rollBack(let plugin):
            rollBacks.append(plugin)
            // Held libraries must not be swapped in later, because the user has taken them back.
            held = []
        case .restart:
            failed = []
            if host == .up || host == .starting || host == .ending {
                // A second request kills the host at once.
                host = .ending
                actions.append(.endHost)
            } else if host == .ended {
                host = .none
            }
        }
        return actions + next()
    }

    private mutating func take(_ end: BuildEnd) {
        guard let product = building else { return }
        (building, isCancelling) = (nil, false)
        switch end {
        case .succeeded: failed.remove(product.id)
        case .failed: failed.insert(product.id)
        case .cancelled: if !waiting.contains(product) { waiting.append(product) }
        }
    }

    /// Returns whether to notify the user of the failure of the last request.
    private mutating func answered(_ answer: Answer) -> Bool {
        defer { asked = nil }
        switch asked {
        case .swap(let libraries, _, _) where answer == .done:
            refusals.swapped(libraries)
            // The manifest may need a library that is active only now.
            if manifest == .refused { manifest = .worthTrying }
            return false
        case .swap(let libraries, let isNew, _) where answer == .misfit:
            return refusals.refused(libraries, isNew: isNew, moreIsComing: isMoreComing(than: libraries))
        case .swap(let libraries, let isNew, let duringBuild) where answer == .unfinished:
            // The build may have ended since the host looked for the files.
            return refusals.refused(
                libraries, isNew: isNew, moreIsComing: duringBuild || !isBuilt || !newLibraries.isEmpty)
        case .swap(let libraries, _, _) where answer == .held:
            // The manifest still belongs to the libraries that were held before.
            isHeldManifest = isHeldManifest && !held.isEmpty
            held.formUnion(libraries.subtracting(newLibraries))
            return true
        case .swap(let libraries, _, _):
            // The same code would fail again.
            refusals.forget(libraries)
            return true
        case .both(let libraries) where answer == .done:
            refusals.swapped(libraries)
            if manifest == .refused { manifest = .active }
            return false
        case .both(let libraries) where answer == .unfinished:
            if manifest == .refused { manifest = .new }
            return refusals.refused(libraries, isNew: true, moreIsComing: !isBuilt || !newLibraries.isEmpty)
        case .both(let libraries) where answer == .held:
            (held, isHeldManifest) = (held.union(libraries), true)
            return true
        case .both(let libraries) where answer == .misfit:
            // This refusal is reported to all observers; the code alone may still fit.
            alone = libraries
            return true
        case .both(let libraries):
            refusals.forget(libraries)
            return true
        case .apply where answer == .done:
            if manifest == .refused { manifest = .active }
            refusals.areWorthTryingAgain()
            return false
        case .apply(let isNew): return isNew
        case .rollBack: return answer != .done
        case nil: return false
        }
    }

    /// Returns whether to notify the user that the waiting swap has failed.
    private mutating func waited(_ answer: Answer) -> Bool {
        isWaiting = false
        switch answer {
        case .held: return false
        case .done:
            refusals.swapped(held)
            if isHeldManifest, manifest == .refused { manifest = .active }
            held = []
            return false
        case .misfit, .unfinished, .failed:
            defer { held = [] }
            if answer != .failed { _ = refusals.refused(held, isNew: false, moreIsComing: false) }
            return !held.isEmpty
        }
    }

    /// Returns whether other libraries or a manifest that may fit the given libraries are expected.
    private func isMoreComing(than libraries: Set<String>) -> Bool {
        readings > 0 || manifest == .new || !newLibraries.isEmpty || !waiting.isEmpty
            || building.map { !libraries.contains($0.library) } ?? false
    }

    private mutating func next() -> [Action] {
        var actions: [Action] = []
        if building == nil, !waiting.isEmpty {
            let product = waiting.removeFirst()
            building = product
            actions.append(.build(product))
        }
        switch host {
        case .none where isWorthStarting, .ended where isWorthStarting && hasNews:
            // A new host loads everything in its current state.
            (host, newLibraries, manifest, refusals, rollBacks) = (.starting, [], .active, Refusals(), [])
            alone = []
            actions.append(.startHost)
        case .starting where isWorthStarting && hasNews:
            // The change may have fixed what the start is waiting for, so start again.
            host = .ending
            actions.append(.endHost)
        case .up where asked == nil:
            if let action = nextAsk() {
                actions.append(action)
            } else if !held.isEmpty, !isWaiting {
                isWaiting = true
                actions.append(.swapWaiting(held.sorted(), applying: isHeldManifest))
            }
        case .none, .starting, .up, .ended, .ending: break
        }
        return actions
    }

    private mutating func nextAsk() -> Action? {
        if let plugin = rollBacks.first {
            rollBacks.removeFirst()
            asked = .rollBack
            return .rollBack(plugin: plugin)
        }
        if !alone.isEmpty {
            let libraries = alone.subtracting(newLibraries)
            alone = []
            if !libraries.isEmpty {
                return swap(libraries, isNew: false)
            }
        }
        if let action = askForBoth() { return action }
        if !newLibraries.isEmpty, manifest != .new {
            let libraries = newLibraries
            newLibraries = []
            refusals.forget(libraries)
            held.subtract(libraries)
            return swap(libraries, isNew: true)
        }
        guard isBuilt else { return nil }
        if manifest == .new || manifest == .worthTrying {
            // Treat the manifest as refused until the host confirms that it is active.
            (asked, manifest) = (.apply(isNew: manifest == .new), .refused)
            return .apply
        }
        guard let libraries = refusals.tryAgain() else { return nil }
        return swap(libraries, isNew: false)
    }

    private mutating func swap(_ libraries: Set<String>, isNew: Bool) -> Action {
        asked = .swap(libraries, isNew: isNew, duringBuild: !isBuilt)
        return .swap(libraries.sorted())
    }

    /// Returns the request for libraries together with a manifest that is not active, once everything is built.
    ///
    /// This is needed if both were saved, or if the host has refused one of them without the other.
    private mutating func askForBoth() -> Action? {
        guard isBuilt, manifest != .active else { return nil }
        let hasNews = !newLibraries.isEmpty || manifest == .new || refusals.areWorthTrying
        let libraries = newLibraries.union(refusals.libraries).union(held)
        guard hasNews, !libraries.isEmpty else { return nil }
        (newLibraries, held) = ([], [])
        refusals.forget(libraries)
        (asked, manifest) = (.both(libraries), .refused)
        return .swapApplying(libraries.sorted())
    }
}

/// The libraries that the host refused, and whether to try them again.
struct Refusals: Sendable, Hashable {
    /// The libraries that do not fit the active ones.
    private(set) var libraries: Set<String> = []
    private(set) var areWorthTrying = false
    private var areUntold = false

    /// Removes libraries that have been replaced by newer ones.
    mutating func forget(_ newer: Set<String>) {
        libraries.subtract(newer)
        if libraries.isEmpty { areUntold = false }
    }

    /// Removes libraries that are now active; the others may fit them.
    mutating func swapped(_ taken: Set<String>) {
        libraries.subtract(taken)
        areWorthTrying = !libraries.isEmpty
        if libraries.isEmpty { areUntold = false }
    }

    /// Marks the libraries as worth another attempt because something else has changed.
    mutating func areWorthTryingAgain() { areWorthTrying = !libraries.isEmpty }

    /// Adds libraries that were refused.
    ///
    /// - Parameters:
    ///   - isNew: Whether they were refused for the first time.
    ///   - moreIsComing: Whether other libraries that may fit them are being built.
    /// - Returns: A Boolean value that indicates whether to notify the user now.
    mutating func refused(_ refused: Set<String>, isNew: Bool, moreIsComing: Bool) -> Bool {
        libraries.formUnion(refused)
        if isNew { areUntold = true }
        areWorthTrying = moreIsComing || refused != libraries
        guard !areWorthTrying, areUntold else { return false }
        areUntold = false
        return true
    }

    /// Returns all libraries if another attempt is worthwhile.
    mutating func tryAgain() -> Set<String>? {
        guard areWorthTrying, !libraries.isEmpty else { return nil }
        areWorthTrying = false
        return libraries
    }
}
