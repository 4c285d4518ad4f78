internal import Backplane
public import BackplaneDocuments
public import FoundationEssentials

/// A manifest together with everything that is wrong with it: reading never fails, it reports.
///
/// A manager with an error is not in ``manifest`` but its problems name it; sound managers beside it stay usable.
public struct ManifestDocument: Sendable {
    /// What could be read.
    public let manifest: Manifest
    /// All problems at once: those of the whole manifest first, then manager by manager.
    public let problems: [Problem]
    /// The file it was read from.
    public let path: String?
    /// The one of its environments that it was read with; `nil`: none.
    package let environment: String?
    package let dialect: ManifestDialect
    /// What it was read from, if that is JSON, to find positions in.
    let text: Data?
    /// Where what the environment brought is written.
    let origins: ManifestOrigins
    /// Texts with variables in them as they are written.
    let spellings: [ManifestPath: String]
    /// Where the plugins are in the manifest.
    let pluginPaths: [ManifestPath]

    /// Reads a file: JSON, an XML property list or a binary one, told apart by content.
    ///
    /// - Parameters:
    ///   - environment: the one of the manifest's `environments` to lay over it; `nil`: none.
    ///   - variables: gives the values for `${NAME}` in the manifest's texts.
    public init(
        contentsOf path: String, environment: String? = nil, variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) {
        do {
            self.init(parsing: try ManifestFile.read(path), path: path, environment: environment, variables: variables)
        } catch {
            self.init(failure: error, path: path, environment: environment)
        }
    }

    /// Reads bytes as if they were the contents of a file.
    public init(
        parsing bytes: Data, path: String? = nil, environment: String? = nil,
        variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) {
        self.init(parsing: bytes, path: path, environment: environment, ignoringLock: false, variables: variables)
    }

    /// - Parameter ignoringLock: read it as if there was no lock, nor a mistake in it.
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
            failure.location = path
            self.init(failure: failure, path: path, environment: environment, position: error.position)
        }
    }

    /// Reads a value that is already in memory.
    public init(
        _ value: ManifestValue, environment: String? = nil, variables: @escaping (String) -> String? = ManifestDocument.processVariable
    ) {
        self.init(reading: value, ManifestReader(environment: environment, variables: variables), path: nil, text: nil)
    }

    /// The value of an environment variable of this process, as it is; `nil`: it is not set.
    public static func processVariable(_ name: String) -> String? {
        ProcessEnvironment.text(name)
    }

    /// Takes a manifest made in Swift, of which nothing is wrong as far as it goes.
    public init(_ manifest: Manifest) {
        (self.manifest, problems, path, environment, dialect, text) = (manifest, [], nil, nil, .backplane, nil)
        (origins, spellings, pluginPaths) = (ManifestOrigins(), [:], [])
    }

    private init(reading value: ManifestValue, _ reader: ManifestReader, path: String?, text: Data?) {
        var reader = reader
        manifest = reader.read(value)
        (problems, self.path, dialect) = (Self.positioning(reader.problems.grouped, in: text), path, reader.dialect)
        environment = reader.environment
        (self.text, origins, spellings, pluginPaths) = (text, reader.origins, reader.spellings, reader.pluginPaths)
    }

    private init(failure: BackplaneError, path: String?, environment: String?, position: SourcePosition? = nil) {
        (manifest, problems) = (Manifest(managers: [:]), [Problem(.error, manager: nil, failure, position: position)])
        (self.path, self.environment, dialect, text) = (path, environment, .backplane, nil)
        (origins, spellings, pluginPaths) = (ManifestOrigins(), [:], [])
    }

    package var source: ManifestSource { ManifestSource(path: path, environment: environment) }

    var soundManifest: Manifest {
        get throws(BackplaneError) {
            let errors = problems.filter { $0.severity == .error }.map(\.error)
            guard errors.isEmpty else { throw .combining(errors, of: "the manifest", at: path) }
            return manifest
        }
    }
}
