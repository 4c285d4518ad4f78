/// The libraries of a session: the files as last seen, and the application's responses to them.
struct DevLibraries: Sendable {
    private var seen: [String: ProductStamp] = [:]
    /// The files of the last swap request, as last seen before it.
    private var asked: [String: ProductStamp] = [:]
    /// The libraries that the application refused.
    private var refused: Set<String> = []
    /// The duration of each library's last build in this session.
    private var builtIn: [String: BuildTime] = [:]
    /// The libraries that are not reported if they are unchanged.
    ///
    /// They come with a manifest, or were seen before their build ended.
    private var unremarkable: Set<String> = []
    /// A Boolean value that indicates whether the last swap request consisted only of such libraries.
    private var isAskedAgain = false

    /// Returns whether a complete library differs from the one last seen, and remembers it.
    mutating func isNew(_ path: String, _ stamp: ProductStamp) -> Bool {
        guard stamp.library != nil, stamp != seen[path], !ProductStamp.isBeingWritten(path) else { return false }
        seen[path] = stamp
        return true
    }

    func isKnown(_ path: String) -> Bool { seen[path] != nil }

    mutating func remember(_ path: String, _ stamp: ProductStamp) { seen[path] = stamp }

    mutating func wasBuilt(_ path: String, in time: Duration) { builtIn[path] = BuildTime(time) }

    mutating func expect(_ paths: some Sequence<String>) { unremarkable.formUnion(paths) }

    mutating func areAsked(_ paths: [String]) {
        isAskedAgain = unremarkable.isSuperset(of: paths)
        unremarkable.subtract(paths)
        asked = seen.filter { paths.contains($0.key) }
    }

    /// Marks libraries as active.
    ///
    /// - Returns: The build time of each, and whether to report them if they are unchanged.
    mutating func areTaken(_ paths: [String]) -> (builtIn: [String: BuildTime], isNews: Bool) {
        refused.subtract(paths)
        var times: [String: BuildTime] = [:]
        for path in paths { times[path] = builtIn.removeValue(forKey: path) }
        return (times, !isAskedAgain)
    }

    /// Marks libraries as swapped in.
    ///
    /// One that was replaced before it was loaded is already active when its change is offered, and is not reported
    /// then, even if the change was detected before the answer.
    mutating func areSwapped(_ paths: [String]) {
        unremarkable.formUnion(paths.filter { asked[$0]?.library != ProductStamp(library: $0).library })
    }

    mutating func areRefused(_ paths: [String]) {
        refused.formUnion(paths)
        if isAskedAgain { unremarkable.formUnion(paths) }
    }

    /// Marks libraries as inactive, so that the next build is swapped in even if it is unchanged.
    mutating func areRolledBack(_ paths: [String]) {
        for path in paths { seen[path] = .unknown }
    }

    /// Treats refused libraries as new.
    ///
    /// - Returns: The refused libraries.
    mutating func tryAgain() -> Set<String> {
        for path in refused { seen[path] = .unknown }
        return refused
    }

    /// Drops the build times of the libraries that the manifest has loaded; refused libraries may now be accepted.
    mutating func areApplied() { builtIn = builtIn.filter { refused.contains($0.key) } }

    /// Drops all build times, because another application has loaded the libraries.
    mutating func forgetTimes() { builtIn = [:] }
}
