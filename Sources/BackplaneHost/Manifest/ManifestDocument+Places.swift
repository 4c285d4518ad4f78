internal import Backplane
internal import BackplaneDocuments
internal import BackplaneNetwork
internal import FoundationEssentials

extension ManifestDocument {
    /// Returns the problems with their positions in this document's text.
    func positioning(_ problems: [Problem]) -> [Problem] {
        Self.positioning(problems, in: text)
    }

    /// Returns the location at which a value of the manifest is written, which may be in an environment.
    func place(of path: ManifestPath) -> String {
        origins.place(of: path.description) ?? path.description
    }

    /// Returns whether an error's location is in the manifest, rather than in a configuration or the file system.
    package func contains(_ location: String) -> Bool {
        let first = location.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst().first
        guard location.hasPrefix("/"), let first else { return false }
        return problems.contains { $0.error.location == location }
            || (dialect == .backplane
                ? ManifestKeys.root.known(in: dialect).contains(String(first))
                : manifest.managers.keys.contains { (ManifestPath() / $0).description == "/\(first)" })
    }

    /// Returns the location of a plugin's library; `index` counts only plugins that could be read.
    func place(ofLibrary index: Int) -> String {
        let path = pluginPaths.indices.contains(index) ? pluginPaths[index] : ManifestPath() / "plugins" / index
        return place(of: path / "library")
    }

    /// Returns the origins of the values below a path that are written elsewhere.
    func origins(below path: ManifestPath) -> ManifestOrigins {
        origins.below(path)
    }

    /// Returns a string as a message may show it, with variables as written, because their values may be secret.
    func shown(_ text: String, at path: ManifestPath) -> String {
        guard let spelling = spellings[path], Redaction.variables.hides(text) else { return text }
        return spelling
    }

    static func positioning(_ problems: [Problem], in text: Data?) -> [Problem] {
        guard let text, !problems.isEmpty else { return problems }
        let positions = JSONReader.positions(of: problems.compactMap(\.error.location), in: text)
        return problems.map { problem in
            var problem = problem
            problem.position = problem.error.location.flatMap { positions[$0] }
            return problem
        }
    }
}
