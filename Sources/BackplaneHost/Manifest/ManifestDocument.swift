internal import Backplane
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
    package let dialect: ManifestDialect
    /// What it was read from, if that is JSON, to find positions in.
    private let text: Data?

    /// Reads a file: JSON, an XML property list or a binary one, told apart by content.
    public init(contentsOf path: String) {
        do {
            self.init(parsing: try ManifestFile.read(path), path: path)
        } catch {
            self.init(failure: error, path: path)
        }
    }

    /// Reads bytes as if they were the contents of a file.
    public init(parsing bytes: Data, path: String? = nil) {
        do {
            self.init(reading: try ManifestValue(parsing: bytes), path: path, text: ManifestFormat(of: bytes) == .json ? bytes : nil)
        } catch {
            var error = error
            error.location = path
            self.init(failure: error, path: path, position: ManifestFormat(of: bytes) == .json ? JSONReader.positionOfMistake(in: bytes) : nil)
        }
    }

    /// Reads a value that is already in memory.
    public init(_ value: ManifestValue) {
        self.init(reading: value, path: nil, text: nil)
    }

    /// Takes a manifest made in Swift, of which nothing is wrong as far as it goes.
    public init(_ manifest: Manifest) {
        (self.manifest, problems, path, dialect, text) = (manifest, [], nil, .backplane, nil)
    }

    private init(reading value: ManifestValue, path: String?, text: Data?) {
        var reader = ManifestReader()
        manifest = reader.read(value)
        (problems, self.path, dialect) = (Self.positioning(reader.problems.grouped, in: text), path, reader.dialect)
        self.text = text
    }

    private init(failure: BackplaneError, path: String?, position: SourcePosition? = nil) {
        (manifest, problems) = (Manifest(managers: [:]), [Problem(.error, manager: nil, failure, position: position)])
        (self.path, dialect, text) = (path, .backplane, nil)
    }

    /// The problems with their positions in this document's text.
    func positioning(_ problems: [Problem]) -> [Problem] {
        Self.positioning(problems, in: text)
    }

    private static func positioning(_ problems: [Problem], in text: Data?) -> [Problem] {
        guard let text, !problems.isEmpty else { return problems }
        let positions = JSONReader.positions(of: problems.compactMap(\.error.location), in: text)
        return problems.map { problem in
            var problem = problem
            problem.position = problem.error.location.flatMap { positions[$0] }
            return problem
        }
    }

    var soundManifest: Manifest {
        get throws(BackplaneError) {
            let errors = problems.filter { $0.severity == .error }.map(\.error)
            guard errors.isEmpty else { throw .combining(errors, of: "the manifest", at: path) }
            return manifest
        }
    }
}
