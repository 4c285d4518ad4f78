import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneHost

/// The check of the definition of a web service, or of the header fields beside it, for which no host is needed.
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
