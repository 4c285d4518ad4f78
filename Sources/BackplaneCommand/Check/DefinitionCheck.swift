import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneHost

/// The check of a web service's definition or the header fields next to it, which needs no host.
enum DefinitionCheck {
    /// Returns the problems of a definition; `nil` for a file that is not a definition.
    static func problems(of path: String) -> [Problem]? {
        // A pipe has its contents only once, and they are a manifest.
        guard DefinitionFile.isRegular(path), let bytes = try? DefinitionFile.read(path) else { return nil }
        let value = try? DocumentValue(parsing: bytes, as: .document)
        guard DefinitionFile.isDefinition(value, named: path) else { return nil }
        let problems =
            DefinitionFile.hasSharedHeaders(path)
            ? DefinitionDocument(sharedHeaders: bytes, path: path).problems
            : DefinitionDocument(parsing: bytes, path: path).problems
        return problems.map { problem in
            Problem(
                problem.severity == .error ? .error : .warning, manager: nil, problem.error, position: problem.position)
        }
    }
}
