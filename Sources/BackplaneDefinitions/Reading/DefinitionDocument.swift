package import Backplane
import BackplaneDocuments
import BackplaneNetwork
package import FoundationEssentials

/// The content of a definition file, with its problems.
package struct DefinitionDocument<Content: Sendable>: Sendable {
    /// The content without its faulty parts.
    package let content: Content
    /// The problems in the order of the keys, up to ``DefinitionReader/mostListed`` of each severity.
    package let problems: [DefinitionProblem]
    /// The path of the file; `nil` for bytes.
    package let path: String?

    private init(_ content: Content, _ problems: [DefinitionProblem], _ path: String?) {
        (self.content, self.problems, self.path) = (content, problems, path)
    }

    fileprivate init(
        parsing bytes: Data, path: String?, or empty: Content, _ subject: DocumentSubject,
        _ read: (DocumentValue) -> (content: Content, problems: [DefinitionProblem])
    ) {
        do {
            let value = try DocumentValue(parsing: bytes, as: subject)
            var (content, problems) = read(value)
            let positions = SourcePosition.positions(of: problems.compactMap(\.error.location), in: bytes)
            for index in problems.indices {
                problems[index].position = problems[index].error.location.flatMap { positions[$0] }
            }
            self.init(content, problems, path)
        } catch {
            var problem = DefinitionProblem(
                .error, BackplaneError(.definitionMalformed, error.reason, at: error.location ?? path))
            problem.position = error.position
            self.init(empty, [problem], path)
        }
    }

    /// The content, if it has no errors.
    ///
    /// - Throws: The only error, or the first of several, with all of them as causes; each with its line and column.
    func sound() throws(BackplaneError) -> Content {
        let errors = problems.filter { $0.severity == .error }
        guard let first = errors.first else { return content }
        guard errors.count > 1 else { throw first.located(in: path) }
        throw BackplaneError(
            first.error.code, "the definition has \(errors.count) errors, the first: \(first.error.message)",
            at: path, causes: errors.map { $0.located(in: path) })
    }
}

extension DefinitionProblem {
    /// Returns the error with the file and the position in its location, in the format that compilers use:
    /// `Depots.json:3:28: /find/request`.
    package func located(in path: String?) -> BackplaneError {
        var error = error
        let pointer = error.location == path ? nil : error.location
        let place = path.map { path in position.map { "\(path):\($0.line):\($0.column)" } ?? path }
        let words = [place ?? position?.description, pointer].compactMap(\.self).filter { !$0.isEmpty }
        error.location = words.isEmpty ? nil : words.joined(separator: ": ")
        return error
    }
}

extension DefinitionDocument where Content == WebServiceDefinition {
    /// Creates a document from the methods of a web service, without checking the names of serializers and models.
    package init(parsing bytes: Data, path: String? = nil) { self.init(parsing: bytes, path: path, names: nil) }

    /// Creates a document from the methods of a web service.
    ///
    /// - Parameter names: The existing serializers and models; `nil` if they are unknown.
    init(parsing bytes: Data, path: String? = nil, names: DefinitionNames?) {
        let subject = DocumentSubject("definition", root: "a definition is a dictionary of methods")
        self.init(parsing: bytes, path: path, or: WebServiceDefinition([]), subject) { value in
            var reader = DefinitionReader(names: names)
            let methods = reader.methods(value)
            return (WebServiceDefinition(methods), reader.listed)
        }
    }
}

/// The header fields that the web services of a folder share.
package struct SharedHeaders: Sendable {
    let headers: HTTPHeaders
}

extension DefinitionDocument where Content == SharedHeaders {
    /// Creates a document from the header fields that the web services of a folder share.
    package init(sharedHeaders bytes: Data, path: String? = nil) {
        let subject = DocumentSubject("file of shared headers", root: "it is a dictionary of header fields")
        self.init(parsing: bytes, path: path, or: SharedHeaders(headers: [:]), subject) { value in
            var reader = DefinitionReader(names: nil)
            let headers = reader.sharedHeaders(value)
            return (SharedHeaders(headers: headers), reader.listed)
        }
    }
}
