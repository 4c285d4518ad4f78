import Backplane
import BackplaneHost
import BackplaneNetwork

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

    static func measure(_ swarm: Swarm, _ digest: (any ContentDigest)?) throws -> LoadingChild.Figures {
        try measure((swarm.document.manifest.plugins ?? []).map { (swarm.folder + "/" + $0.library, $0.sha256) }, in: swarm.loads, digest)
    }

    /// - Parameters:
    ///   - libraries: paths, and the SHA-256 that manifests give.
    ///   - folder: for their copies.
    ///   - digest: what computes a SHA-256 where one is given.
    static func measure(_ libraries: [(path: String, sha256: String?)], in folder: String, _ digest: (any ContentDigest)? = nil) throws -> LoadingChild.Figures {
        let loads = try LoadFolder(in: folder)
        defer { loads.remove() }
        var times: [Step: Duration] = [:]
        func timed<Value>(_ step: Step, _ body: () throws -> Value) throws -> Value {
            let start = ContinuousClock.now
            defer { times[step, default: .zero] += ContinuousClock.now - start }
            return try body()
        }
        var loaded: [(file: LibraryFile, library: DynamicLibrary)] = []
        for library in libraries {
            let copy = try timed(.copying) { try LibraryCopy(of: library.path, sha256: library.sha256, in: loads) }
            if library.sha256 != nil { try timed(.hashing) { try copy.requireDigest(digest) } }
            let file = try timed(.checking) { try copy.checked() }
            loaded.append((file, try timed(.loading) { try file.load() }))
        }
        for (file, library) in loaded { _ = try timed(.asking) { try file.describe(library) } }
        return Dictionary(uniqueKeysWithValues: times.map { ($0.key.rawValue, $0.value / .nanoseconds(1) / Double(libraries.count)) })
    }
}
