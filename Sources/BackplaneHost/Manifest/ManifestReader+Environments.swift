internal import Backplane
internal import BackplaneDocuments

extension ManifestReader {
    /// Returns the root merged with the chosen environment; `nil` if it is unknown or invalid.
    ///
    /// All environments are read, so that a mistake in an environment is reported before it is needed.
    mutating func choosingEnvironment(in root: Section) -> Section? {
        let environments = dictionary("environments", in: root)
        var chosen: Section?
        for name in environments?.values.keys.sorted() ?? [] {
            guard let environments, let overlay = overlay(name, in: environments) else { continue }
            if name == environment { chosen = overlay }
        }
        if !isRehearsal { rehearseOthers(environments, in: root) }
        guard let environment else { return root }
        guard let environments, environments.values[environment] != nil else {
            report(unknownEnvironment(environment, among: environments?.values.keys.sorted() ?? []))
            return nil
        }
        return chosen.map { overlay in
            let patch = overlay.values.filter { ManifestKeys.environment.all.contains($0.key) }
            let merged = ManifestValue.dictionary(root.values).merging(
                .dictionary(patch), writtenAt: overlay.path, &origins)
            guard case .dictionary(let values) = merged else { return root }
            return Section(values: values, path: root.path)
        }
    }

    private mutating func rehearseOthers(_ environments: Section?, in root: Section) {
        guard let environments else { return }
        guard environments.values.count <= ManifestLimits.environments else {
            let words =
                "expected at most \(ManifestLimits.environments) environments, found \(environments.values.count)"
            return report(.manifestUnsupported, words, at: environments.path)
        }
        for name in environments.values.keys.sorted() where name != environment { rehearse(name, in: root) }
    }

    func unknownEnvironment(_ name: String, among names: [String]) -> BackplaneError {
        let suggestions = NameSuggestions(for: name, among: names)
        let hint = suggestions.question ?? (names.isEmpty ? "the manifest has none" : "there are \(suggestions.list)")
        return BackplaneError(
            .manifestUnknownEnvironment, "no environment is named `\(name)`; \(hint)",
            at: (ManifestPath() / "environments").description)
    }

    /// Returns an environment if it can be merged; the contents of the chosen one are read with the merged manifest.
    private mutating func overlay(_ name: String, in environments: Section) -> Section? {
        let before = (errorCount, warningCount)
        guard let overlay = dictionary(name, in: environments) else { return nil }
        var others = overlay
        for key in ManifestKeys.root.all
        where !ManifestKeys.environment.all.contains(key) && others.values.removeValue(forKey: key) != nil {
            let words =
                "an environment cannot change `\(key)`; it can contain \(NameSuggestions.list(ManifestKeys.environment.all))"
            report(.manifestUnsupported, words, at: overlay.path / key)
        }
        let isSound = (errorCount, warningCount) == before
        reportUnknownKeys(in: others, known: .environment)
        return isSound ? overlay : nil
    }

    /// Warns of the errors that an environment would cause if it were chosen, except for those of its variables.
    private mutating func rehearse(_ name: String, in root: Section) {
        var other = ManifestReader(environment: name) { _ in "x" }
        (other.isRehearsal, other.ignoresLock) = (true, true)
        _ = other.read(.dictionary(root.values))
        let path = (ManifestPath() / "environments" / name).description + "/"
        let known = Set(
            problems.compactMap(\.error.location)
                + other.spellings.keys.compactMap { other.origins.place(of: $0.description) })
        for problem in other.attributed
        where !problem.isConsequence
            && problem.error.location.map({ $0.hasPrefix(path) && !known.contains($0) }) ?? false
        {
            var error = problem.error
            error.message = "in an environment that is not in use: \(error.message)"
            report(error, severity: .warning)
        }
    }
}
