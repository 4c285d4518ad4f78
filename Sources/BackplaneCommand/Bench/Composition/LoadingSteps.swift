import Backplane
import BackplaneHost

/// What a host does for each library of a manifest, as a host does it, with the time of every step.
enum LoadingSteps {
    /// The steps in their order.
    enum Step: String, CaseIterable {
        /// And before that who may have written it.
        case copying
        /// Computing the SHA-256 that the manifest gives.
        case hashing
        /// That it is whole, a plugin, and for this host.
        case checking
        case loading
        /// Calling the entry and reading its answer.
        case asking
    }

    static func measure(_ swarm: Swarm) throws -> LoadingChild.Figures {
        let plugins = swarm.document.manifest.plugins ?? [], loads = try LoadFolder(in: swarm.loads)
        defer { loads.remove() }
        var times: [Step: Duration] = [:]
        func timed<Value>(_ step: Step, _ body: () throws -> Value) throws -> Value {
            let start = ContinuousClock.now
            defer { times[step, default: .zero] += ContinuousClock.now - start }
            return try body()
        }
        var loaded: [(file: LibraryFile, library: DynamicLibrary)] = []
        for plugin in plugins {
            let copy = try timed(.copying) { try LibraryCopy(of: swarm.folder + "/" + plugin.library, sha256: plugin.sha256, in: loads) }
            if plugin.sha256 != nil { try timed(.hashing) { try copy.requireDigest(Engines.digest) } }
            let file = try timed(.checking) { try copy.checked() }
            loaded.append((file, try timed(.loading) { try file.load() }))
        }
        for (file, library) in loaded { _ = try timed(.asking) { try file.describe(library) } }
        return Dictionary(uniqueKeysWithValues: times.map { ($0.key.rawValue, $0.value / .nanoseconds(1) / Double(plugins.count)) })
    }
}
