package import Backplane
public import BackplaneDocuments
import BackplaneNetwork
public import FoundationEssentials

/// A manifest together with all problems that were found while reading it.
///
/// Reading never throws an error, but reports it. A manager with an error is omitted from ``manifest``, and the
/// document's problems name it; other, valid managers remain usable.
public struct ManifestDocument: Sendable {
    /// The valid part of the manifest.
    public let manifest: Manifest
    /// All problems: those of the whole manifest, followed by those of each manager.
    ///
    /// ``PluginHost/check()`` adds the problems that environments would cause if they were chosen.
    public let problems: [Problem]
    /// The path of the file from which the document was read; `nil` if it was not read from a file.
    public let path: String?
    /// The name of the environment with which the document was read; `nil` if there is none.
    package let environment: String?
    /// Whether it is a plain Nemo Logic manifest, whose root is `managers` itself.
    private(set) var isNemoLogic = false
    /// The JSON from which the document was read, used to find positions; `nil` for other sources.
    private(set) var text: Data?
    /// The origins of the values that the environment contributed.
    private(set) var origins = ManifestOrigins()
    /// The strings with variables, as written.
    private(set) var spellings: [ManifestPath: String] = [:]
    /// The paths of the plugins' libraries in the manifest.
    private(set) var libraryPaths: [ManifestPath] = []
    /// The paths of services that have their configuration under Nemo Logic's key.
    private(set) var nemoServices: Set<ManifestPath> = []
    /// The value that was read, if it has environments.
    private(set) var content: ManifestValue?

    /// Creates a document from a file: JSON, or an XML or binary property list, detected by content.
    ///
    /// - Parameters:
    ///   - path: The path of the file; a relative path is resolved in the current folder.
    ///   - environment: The environment, one of the manifest's `environments`, to merge into it; `nil` means none.
    ///   - variables: A function that returns the values for `${NAME}` in the manifest's strings.
    public init(
        contentsOf path: String, environment: String? = nil,
        variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) {
        do {
            self.init(parsing: try ManifestFile.read(path), path: path, environment: environment, variables: variables)
        } catch {
            self.init(failure: error, path: path, environment: environment)
        }
    }

    /// Creates a document from bytes as if they were the contents of a file.
    ///
    /// - Parameters:
    ///   - bytes: The text of the manifest in one of the formats of files.
    ///   - path: The path to report as the source of the bytes.
    ///   - environment: The environment, one of the manifest's `environments`, to merge into it; `nil` means none.
    ///   - variables: A function that returns the values for `${NAME}` in the manifest's strings.
    public init(
        parsing bytes: Data, path: String? = nil, environment: String? = nil,
        variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) {
        self.init(parsing: bytes, path: path, environment: environment, ignoringLock: false, variables: variables)
    }

    /// Creates a document from bytes, optionally without their lock.
    ///
    /// - Parameter ignoringLock: Whether to read the manifest as if it had no lock, so that mistakes in it are ignored.
    package init(
        parsing bytes: Data, path: String?, environment: String?, ignoringLock: Bool,
        variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) {
        do {
            let value = try ManifestValue(parsing: bytes, as: .manifest)
            var reader = ManifestReader(environment: environment, variables: variables)
            reader.ignoresLock = ignoringLock
            self.init(reading: value, reader, path: path, text: ManifestFormat(of: bytes) == .json ? bytes : nil)
        } catch {
            var failure = BackplaneError(manifest: error)
            failure.location = error.location ?? path
            self.init(failure: failure, path: path, environment: environment, position: error.position)
        }
    }

    /// Creates a document from a value in memory.
    ///
    /// - Parameters:
    ///   - value: The content of the manifest.
    ///   - environment: The environment, one of the manifest's `environments`, to merge into it; `nil` means none.
    ///   - variables: A function that returns the values for `${NAME}` in the manifest's strings.
    public init(
        _ value: ManifestValue, environment: String? = nil,
        variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) {
        self.init(reading: value, ManifestReader(environment: environment, variables: variables), path: nil, text: nil)
    }

    /// Returns the unmodified value of an environment variable of this process; `nil` if it is not set.
    public static func processVariable(_ name: String) -> String? {
        ProcessEnvironment.text(name)
    }

    /// Creates a document from a manifest built in Swift; it has no problems of its own.
    public init(_ manifest: Manifest) {
        (self.manifest, problems, path, environment) = (manifest, [], nil, nil)
    }

    private init(reading value: ManifestValue, _ reader: ManifestReader, path: String?, text: Data?) {
        var reader = reader
        manifest = reader.read(value)
        problems = Self.positioning(reader.summary.grouped, in: text)
        (self.path, environment, isNemoLogic, self.text) = (path, reader.environment, reader.isNemoLogic, text)
        (origins, spellings) = (reader.origins, reader.spellings)
        (libraryPaths, nemoServices) = (reader.libraryPaths, reader.nemoServices)
        if case .dictionary(let root) = value, root["environments"] != nil, !isNemoLogic { content = value }
    }

    private init(failure: BackplaneError, path: String?, environment: String?, position: SourcePosition? = nil) {
        (manifest, problems) = (Manifest(managers: [:]), [Problem(.error, manager: nil, failure, position: position)])
        (self.path, self.environment) = (path, environment)
    }

    /// The path and the environment from which the manifest was read.
    package var source: ManifestSource { ManifestSource(path: path, environment: environment) }

    /// The manifest, if it has no errors.
    ///
    /// - Throws: The only error, or the first of several with all of them as its causes.
    var soundManifest: Manifest {
        get throws(BackplaneError) {
            let errors = problems.errors
            guard errors.isEmpty else { throw .combining(errors, of: "the manifest", at: path) }
            return manifest
        }
    }
}

extension ManifestDocument {
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
            || (isNemoLogic ? manifest.managers.keys.map(\.pointerStep) : ManifestShape.root.keys).contains(
                String(first))
    }

    /// Returns the location of a plugin's library; `index` counts only plugins that could be read.
    func place(ofLibrary index: Int) -> String {
        place(of: libraryPaths.indices.contains(index) ? libraryPaths[index] : ManifestPath() / "plugins" / index)
    }

    /// Returns the origins of the values below a path that are written elsewhere.
    func origins(below path: ManifestPath) -> ManifestOrigins {
        origins.below(path)
    }

    /// Returns a string as a message may show it, with variables as written, because their values may be secret.
    func shown(_ text: String, at path: ManifestPath) -> String {
        spellings[path] ?? text
    }

    static func positioning(_ problems: [Problem], in text: Data?) -> [Problem] {
        guard let text, !problems.isEmpty else { return problems }
        let positions = SourcePosition.positions(of: problems.compactMap(\.error.location), in: text)
        return problems.map { problem in
            var problem = problem
            problem.position = problem.error.location.flatMap { positions[$0] }
            return problem
        }
    }
}

extension ManifestDocument {
    /// Returns an error in reading or encoding this document's value as a problem, with its position if known.
    package func problem(of error: BackplaneError) -> Problem {
        // A document that cannot be read at all already has this error among its problems, with a position that has no
        // path.
        problems.first { $0.error.code == error.code && $0.error.message == error.message }
            ?? positioning([Problem(.error, manager: nil, error)])[0]
    }
}

extension ManifestValue {
    /// The error in the `manifestVersion`, which makes the manifest unreadable; `nil` if there is none.
    package var versionError: BackplaneError? {
        let place = (ManifestPath() / "manifestVersion").description
        return ManifestDocument(self, variables: { _ in nil }).problems.first {
            $0.severity == .error && $0.error.location == place
        }?.error
    }
}
