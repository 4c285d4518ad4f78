import Backplane
import BackplaneHost

/// The steps that a host takes for each library of a manifest, with the time of each.
enum LoadingSteps {
    /// The steps in their order.
    enum Step: String, CaseIterable {
        /// Copying the file, and before that checking who may have written it.
        case copying
        /// Computing the SHA-256 digest, if the manifest contains one.
        case hashing
        /// Checking that the library is complete, a plugin, and compatible with this host.
        case checking
        case loading
        /// Calling the entry function and reading its answer.
        case asking
    }

    static func measure(_ swarm: Swarm) throws -> LoadingChild.Figures {
        try measure(
            (swarm.document.manifest.plugins ?? []).map { (swarm.folder + "/" + $0.library, $0.sha256) },
            in: swarm.loads)
    }

    /// Measures the steps and returns their times, in nanoseconds for each library.
    ///
    /// - Parameters:
    ///   - libraries: The paths of the libraries, with the SHA-256 digests of manifests that specify one.
    ///   - folder: The folder for copies.
    static func measure(
        _ libraries: [(path: String, sha256: String?)], in folder: String
    ) throws -> LoadingChild.Figures {
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
            let copy = try timed(.copying) { try LibraryCopy(of: library.path, in: loads) }
            if library.sha256 != nil { try timed(.hashing) { try copy.requireDigest(library.sha256) } }
            let file = try timed(.checking) { try copy.checked() }
            loaded.append((file, try timed(.loading) { try file.load() }))
        }
        for (file, library) in loaded { _ = try timed(.asking) { try file.describe(library) } }
        return Dictionary(
            uniqueKeysWithValues: times.map { ($0.key.rawValue, $0.value / .nanoseconds(1) / Double(libraries.count)) })
    }
}
