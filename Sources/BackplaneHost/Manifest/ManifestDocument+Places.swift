internal import Backplane
internal import BackplaneDocuments
internal import FoundationEssentials

extension ManifestDocument {
    /// The problems with their positions in this document's text.
    func positioning(_ problems: [Problem]) -> [Problem] {
        Self.positioning(problems, in: text)
    }

    /// Where a value of the manifest is written, which for one from an environment is there.
    func place(of path: ManifestPath) -> String {
        origins.place(of: path.description) ?? path.description
    }

    /// Where the library of a plugin is written, told by the plugin's place among those that could be read.
    func place(ofLibrary index: Int) -> String {
        let path = pluginPaths.indices.contains(index) ? pluginPaths[index] : ManifestPath() / "plugins" / index
        return place(of: path / "library")
    }

    /// Those places of the values in one that are not their own.
    func origins(below path: ManifestPath) -> ManifestOrigins {
        origins.below(path)
    }

    /// A text of the manifest as a message may show it: as it is written, if a variable, which may be a secret, is in it.
    func shown(_ text: String, at path: ManifestPath) -> String {
        spellings[path] ?? text
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
