public import Backplane
public import BackplaneDocuments
import BackplaneNetwork
package import FoundationEssentials
import Glibc

/// The access to definition files; each file is read as a whole.
package enum DefinitionFile {
    /// The name of the file with the header fields that the web services of a folder share.
    package static let sharedHeaders = "NCWebService.plist"
    private static let prefix = "NCWebService+"

    /// Returns the contents of a file.
    ///
    /// - Throws: `definition.unreadable`, also if the file is not a regular file or is too large for a document.
    package static func read(_ path: String) throws(BackplaneError) -> Data {
        // The system would end the path at a zero byte.
        guard !path.utf8.contains(0) else { throw unreadable(path, "a path cannot contain a zero byte") }
        guard access(path, R_OK) == 0 else { throw unreadable(path, String(cString: strerror(errno))) }
        // Opening a pipe would wait for its writer.
        guard let status = status(path), status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable(path, "expected a regular file")
        }
        guard status.st_size <= DocumentLimits.bytes else {
            throw unreadable(path, "a definition has at most \(DocumentLimits.bytes >> 20) MB")
        }
        guard let data = FileManager.default.contents(atPath: path) else { throw unreadable(path, "reading failed") }
        return data
    }

    /// Returns `true` for a folder at a path and `false` for any other file; returns `nil` if nothing exists there.
    package static func isFolder(_ path: String) -> Bool? { status(path).map { $0.st_mode & S_IFMT == S_IFDIR } }

    /// Returns whether there is a regular file, or a link to one, at a path.
    package static func isRegular(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT } == S_IFREG }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return !path.utf8.contains(0) && stat(path, &status) == 0 ? status : nil
    }

    /// Returns the path of a web service's definition in a folder.
    ///
    /// - Throws: `definition.unreadable` if there is none.
    static func path(of name: String, in folder: String) throws(BackplaneError) -> String {
        guard !name.isEmpty, name != ".", name != "..",
            !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
        else {
            throw unreadable(folder, "`\(name)` is not the name of a web service, which is a part of a file's name")
        }
        let candidates = names(of: name)
        if let found = candidates.first(where: { isFolder("\(folder)/\($0)") == false }) { return "\(folder)/\(found)" }
        let tried = candidates.map { "`\($0)`" }.joined(separator: ", ")
        let question = NameSuggestions(for: name, among: definitions(in: folder)).question
        throw unreadable(
            folder, "the folder has no definition of `\(name)`: \(tried)" + (question.map { "; \($0)" } ?? ""))
    }

    /// Returns the names of files that may define a web service, in the order in which they are tried.
    package static func names(of service: String) -> [String] {
        ["\(prefix)\(service).plist", "\(service).plist", "\(service).json"]
    }

    /// Returns the names of the web services that a folder may define.
    private static func definitions(in folder: String) -> [String] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.compactMap { file in
            guard let end = [".plist", ".json"].first(where: file.hasSuffix) else { return nil }
            return String(file.dropFirst(file.hasPrefix(prefix) ? prefix.count : 0).dropLast(end.count))
        }
    }

    /// Returns whether a file contains shared header fields, judging by its name.
    package static func hasSharedHeaders(_ path: String) -> Bool { name(of: path) == sharedHeaders }

    /// Returns whether a file is a definition rather than a manifest, judging by its name or its content.
    ///
    /// - Parameter value: The content; `nil` if it is malformed.
    package static func isDefinition(_ value: DocumentValue?, named path: String) -> Bool {
        if name(of: path).hasPrefix(prefix) || hasSharedHeaders(path) { return true }
        guard case .dictionary(let values)? = value, values["manifestVersion"] == nil, values["managers"] == nil else {
            return false
        }
        return values.values.contains { value in
            if case .dictionary(let members) = value { members["request"] != nil } else { false }
        }
    }

    private static func name(of path: String) -> String {
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
    }

    private static func unreadable(_ path: String, _ reason: String) -> BackplaneError {
        BackplaneError(.definitionUnreadable, "the definition cannot be read: \(reason)", at: path)
    }
}

/// The contents of the files from which a web service is created.
package struct DefinitionFiles: Sendable, Equatable {
    let definition: Data
    /// The path of the definition; `nil` for data.
    package let path: String?
    /// The header fields shared in the folder; `nil` if there is no such file.
    private(set) var sharedHeaders: Data?
    private(set) var sharedPath: String?

    /// Reads the definition of a web service, and the shared header fields next to it.
    ///
    /// - Throws: `definition.unreadable`.
    package init(_ source: WebService.Source, named name: String) throws(BackplaneError) {
        let path: String
        switch source {
        case .data(let data):
            (definition, self.path) = (data, nil)
            return
        case .folder(let folder): path = try DefinitionFile.path(of: name, in: folder)
        case .file(let file): path = file
        case .url(let url):
            guard url.isFileURL else {
                throw BackplaneError(
                    .definitionUnreadable,
                    "a definition is read from a file, but this is another kind of URL; use a `file:` URL")
            }
            let isFolder = DefinitionFile.isFolder(url.path) == true
            path = isFolder ? try DefinitionFile.path(of: name, in: url.path) : url.path
        }
        (definition, self.path) = (try DefinitionFile.read(path), path)
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let shared = String(slash.map { path[...$0] } ?? "") + DefinitionFile.sharedHeaders
        if DefinitionFile.isFolder(shared) != nil {
            (sharedHeaders, sharedPath) = (try DefinitionFile.read(shared), shared)
        }
    }
}

/// The content of a web service's files: its methods, and the header fields shared in its folder.
package struct DefinitionContent: Sendable {
    package let definition: WebServiceDefinition
    let sharedHeaders: HTTPHeaders
    /// The non-fatal problems; problems of the definition come first.
    package let warnings: [DefinitionProblem]

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - serializers: The names of the serializers, apart from the built-in one.
    ///   - models: The names of the models; `nil` if a contract determines the types.
    /// - Throws: A code of `definition` for faulty files, with all errors as causes if there are several.
    package init(
        _ files: DefinitionFiles, serializers: some Sequence<String>, models: [String]? = nil
    ) throws(BackplaneError) {
        let names = Set(serializers).union([DefinitionReader.json]).sorted()
        let document = DefinitionDocument(
            parsing: files.definition, path: files.path, serializers: names, models: models)
        let shared = files.sharedHeaders.map { DefinitionDocument(sharedHeaders: $0, path: files.sharedPath) }
        for document in [document, shared] { try document?.requireSound() }
        (definition, sharedHeaders) = (document.definition, shared?.sharedHeaders ?? [:])
        warnings = document.problems + (shared?.problems ?? [])
    }
}

/// One file of a web service, with its problems.
package struct DefinitionDocument: Sendable {
    /// The methods without faulty ones; none in a file of shared header fields.
    private(set) var definition = WebServiceDefinition([])
    private(set) var sharedHeaders: HTTPHeaders = [:]
    /// The problems in the order of the keys.
    package private(set) var problems: [DefinitionProblem] = []
    /// The path of the file; `nil` for bytes.
    private let path: String?

    /// Reads the methods of a web service, without checking the names of serializers and models.
    package init(parsing bytes: Data, path: String? = nil) {
        self.init(parsing: bytes, path: path, serializers: nil, models: nil)
    }

    init(parsing bytes: Data, path: String?, serializers: [String]?, models: [String]?) {
        self.path = path
        read(bytes, DocumentSubject("definition", root: "a definition is a dictionary of methods")) { document, value in
            var reader = DefinitionReader(serializers: serializers, models: models)
            document.definition = WebServiceDefinition(reader.methods(value))
            return reader.problems
        }
    }

    /// Reads the header fields that the web services of a folder share.
    package init(sharedHeaders bytes: Data, path: String? = nil) {
        self.path = path
        read(bytes, DocumentSubject("file of shared headers", root: "it is a dictionary of header fields")) {
            var reader = DefinitionReader()
            $0.sharedHeaders = reader.sharedHeaders($1)
            return reader.problems
        }
    }

    private mutating func read(
        _ bytes: Data, _ subject: DocumentSubject,
        _ content: (inout DefinitionDocument, DocumentValue) -> [DefinitionProblem]
    ) {
        do {
            problems = content(&self, try DocumentValue(parsing: bytes, as: subject))
            let positions = SourcePosition.positions(of: problems.compactMap(\.error.location), in: bytes)
            for index in problems.indices {
                problems[index].position = problems[index].error.location.flatMap { positions[$0] }
            }
        } catch {
            let malformed = BackplaneError(.definitionMalformed, error.reason, at: error.location ?? path)
            problems = [DefinitionProblem(.error, malformed)]
            problems[0].position = error.position
        }
    }

    /// Requires that there are no errors.
    ///
    /// - Throws: The only error, or the first error with all errors as causes; each has its line and column.
    func requireSound() throws(BackplaneError) {
        let errors = problems.filter { $0.severity == .error }
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first.located(in: path) }
        throw BackplaneError(
            first.error.code, "the definition has \(errors.count) errors, the first: \(first.error.message)",
            at: path, causes: errors.map { $0.located(in: path) })
    }
}

/// An error or an ignored value in a definition, with its location.
public struct DefinitionProblem: Sendable, CustomStringConvertible {
    /// The consequence of a problem.
    public enum Severity: String, Sendable {
        /// A problem that prevents the creation of the web service.
        case error
        /// A value that has no effect, or possibly an unintended one.
        case warning
    }

    /// The consequence of the problem.
    public var severity: Severity
    /// The problem itself, located by a JSON pointer such as `/search/request/path`.
    public var error: BackplaneError
    /// The position of the problem in the text; `nil` in a property list.
    public var position: SourcePosition?

    init(_ severity: Severity, _ error: BackplaneError) { (self.severity, self.error) = (severity, error) }

    /// The severity, the location and the problem, in one line.
    public var description: String { "\(severity): \(located(in: nil))" }

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
