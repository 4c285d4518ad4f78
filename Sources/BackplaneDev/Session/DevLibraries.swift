/// The libraries as `backplane dev` knows them: as which files it saw them last, and what the application made of them.
struct DevLibraries: Sendable {
    private var seen: [String: ProductStamp] = [:]
    /// Those that the application would not have.
    private var refused: Set<String> = []
    /// Seconds that the last build of a library took here.
    private var builtIn: [String: Double] = [:]
    /// It is nothing new when these are unchanged: they come with a manifest, or came before their build had ended.
    private var unremarkable: Set<String> = []
    /// The swap that was asked for last is of such alone.
    private var isAskedAgain = false

    /// Is there another one, whole, than was seen last? From then on this was.
    mutating func isNew(_ path: String, _ stamp: ProductStamp) -> Bool {
        guard stamp.library != nil, stamp != seen[path], !ProductStamp.isBeingWritten(path) else { return false }
        seen[path] = stamp
        return true
    }

    func isKnown(_ path: String) -> Bool { seen[path] != nil }

    mutating func remember(_ path: String, _ stamp: ProductStamp) { seen[path] = stamp }

    mutating func wasBuilt(_ path: String, in seconds: Double) { builtIn[path] = seconds }

    mutating func expect(_ paths: some Sequence<String>) { unremarkable.formUnion(paths) }

    mutating func areAsked(_ paths: [String]) {
        isAskedAgain = unremarkable.isSuperset(of: paths)
        unremarkable.subtract(paths)
    }

    /// These are in force.
    ///
    /// - Returns: how long each took to build, and whether it is news where they are unchanged.
    mutating func areTaken(_ paths: [String]) -> (builtIn: [String: Double], isNews: Bool) {
        refused.subtract(paths)
        var times: [String: Double] = [:]
        for path in paths { times[path] = builtIn.removeValue(forKey: path) }
        return (times, !isAskedAgain)
    }

    mutating func areRefused(_ paths: [String]) {
        refused.formUnion(paths)
        if isAskedAgain { unremarkable.formUnion(paths) }
    }

    /// Others are in force than lie there: the next build goes forward again, also with the same code.
    mutating func areRolledBack(_ paths: [String]) {
        for path in paths { seen[path] = .unknown }
    }

    /// What was refused is new again.
    ///
    /// - Returns: all of it.
    mutating func tryAgain() -> Set<String> {
        for path in refused { seen[path] = .unknown }
        return refused
    }

    /// What a manifest has brought was loaded from where it lies now; what was refused before may be taken now.
    mutating func areApplied() { builtIn = builtIn.filter { refused.contains($0.key) } }

    /// Another application has them now, whenever they were built.
    mutating func forgetTimes() { builtIn = [:] }
}
