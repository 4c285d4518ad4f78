/// What is to be done next under `backplane dev`: decides, and does nothing itself.
///
/// A library goes to the host as soon as the linker has closed it. One that the host refuses while others are still being built is tried
/// again together with those: a changed contract has several plugins built, and they fit only each other.
struct DevLoop: Sendable {
    enum Event: Sendable, Hashable {
        /// What a package consists of is being read, or was: until then it is not known what is to be built.
        case reading, read
        /// These are all that the manifest needs.
        case needed([DevPackage.Product])
        /// Something that these are made of has changed.
        case changed([DevPackage.Product])
        case built(BuildEnd)
        /// These files lie there, whole, with other contents than before.
        case libraries(Set<String>)
        /// It has other contents.
        case manifest
        /// The host serves.
        case hostUp
        case hostEnded
        /// To what it was asked.
        case answered(Answer)
        /// A person wants a plugin's code of before.
        case rollBack(plugin: String)
        /// A person wants the host to begin from nothing.
        case startAnew
    }

    enum Answer: Sendable, Hashable {
        case done
        /// It does not fit what is in force: that may change.
        case misfit
        /// There is no whole library: somebody is writing it.
        case unfinished
        case failed
    }

    enum BuildEnd: Sendable, Hashable {
        case succeeded, failed, cancelled
    }

    enum Action: Sendable, Hashable {
        case build(DevPackage.Product), cancelBuild
        case startHost, endHost
        case swap([String]), apply, rollBack(plugin: String)
        /// A person is to be told why the host did not do what it was asked last.
        case showRefusal
    }
    private enum HostState { case none, starting, up, ended, ending }
    private enum Ask { case swap(Set<String>, isNew: Bool), apply(isNew: Bool), rollBack }
    private enum ManifestState { case inForce, new, refused, worthTrying }

    private(set) var building: DevPackage.Product?
    private var isCancelling = false
    private var waiting: [DevPackage.Product] = []
    /// By their names: what they are made of may change.
    private var failed: Set<String> = []
    private var host = HostState.none
    private var asked: Ask?
    private var newLibraries: Set<String> = []
    private var manifest = ManifestState.inForce
    private var readings = 0
    private var rollBacks: [String] = []
    private var refusals = Refusals()

    /// Nothing is being built, and nothing waits to be.
    private var isBuilt: Bool { building == nil && waiting.isEmpty && readings == 0 }
    private var isWorthStarting: Bool { isBuilt && failed.isEmpty }
    /// There is what an application that starts would find, and the last has not found.
    private var hasNews: Bool { !newLibraries.isEmpty || manifest == .new }
    var isHostUp: Bool { host == .up }

    /// Takes in what has happened.
    ///
    /// - Returns: what is to be done about it, in this order.
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
            asked = nil
        case .answered(let answer): if answered(answer) { actions.append(.showRefusal) }
        case .rollBack(let plugin): rollBacks.append(plugin)
        case .startAnew:
            failed = []
            if host == .up || host == .starting || host == .ending {
                // Asked again it ends at once.
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

    /// - Returns: is a person to be told of it?
    private mutating func answered(_ answer: Answer) -> Bool {
        defer { asked = nil }
        switch asked {
        case .swap(let libraries, _) where answer == .done:
            refusals.swapped(libraries)
            // It may have asked for what came only now.
            if manifest == .refused { manifest = .worthTrying }
            return false
        case .swap(let libraries, let isNew) where answer == .misfit:
            return refusals.refused(libraries, isNew: isNew, moreIsComing: isMoreComing(than: libraries))
        case .swap(let libraries, let isNew) where answer == .unfinished:
            return refusals.refused(libraries, isNew: isNew, moreIsComing: !isBuilt || !newLibraries.isEmpty)
        case .swap(let libraries, _):
            // The same code would fail again.
            refusals.forget(libraries)
            return true
        case .apply where answer == .done:
            if manifest == .refused { manifest = .inForce }
            refusals.areWorthTryingAgain()
            return false
        case .apply(let isNew): return isNew
        case .rollBack: return answer != .done
        case nil: return false
        }
    }

    /// Is there anything to come beside these?
    private func isMoreComing(than libraries: Set<String>) -> Bool {
        readings > 0 || manifest == .new || !newLibraries.isEmpty || !waiting.isEmpty || building.map { !libraries.contains($0.library) } ?? false
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
            // It finds all as it is now.
            (host, newLibraries, manifest, refusals, rollBacks) = (.starting, [], .inForce, Refusals(), [])
            actions.append(.startHost)
        case .starting where isWorthStarting && hasNews:
            // What it waits for may be what was mended: it starts again, with that.
            host = .ending
            actions.append(.endHost)
        case .up where asked == nil:
            if let action = nextAsk() { actions.append(action) }
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
        if !newLibraries.isEmpty {
            let libraries = newLibraries
            newLibraries = []
            refusals.forget(libraries)
            asked = .swap(libraries, isNew: true)
            return .swap(libraries.sorted())
        }
        guard isBuilt else { return nil }
        if manifest == .new || manifest == .worthTrying {
            // Until it is known to be in force.
            (asked, manifest) = (.apply(isNew: manifest == .new), .refused)
            return .apply
        }
        guard let libraries = refusals.tryAgain() else { return nil }
        asked = .swap(libraries, isNew: false)
        return .swap(libraries.sorted())
    }
}
