public import Backplane
public import BackplaneDocuments
// A manifest that is made in Swift has values in it: whoever imports the host can write them.
@_exported public import enum BackplaneDocuments.DocumentValue
public import FoundationEssentials

/// A value of a manifest, whichever spelling it was read from.
public typealias ManifestValue = DocumentValue

/// The spelling of a manifest.
public typealias ManifestFormat = DocumentFormat

/// A place in a manifest.
typealias ManifestPath = DocumentPath

extension ManifestValue {
    /// Reads JSON, an XML property list or a binary one, told apart by what the bytes begin with.
    ///
    /// - Throws: `manifest.malformed`, of a text with line and column; `manifest.unsupported` beyond 16 MB, 64 levels or a
    ///   million values.
    public init(parsing bytes: Data) throws(BackplaneError) {
        do { try self.init(parsing: bytes, as: .manifest) } catch { throw BackplaneError(manifest: error) }
    }

    /// The value as a file, the same bytes for the same value: for people to read, as far as the format is for people.
    ///
    /// JSON has neither data nor dates: they become base64 and seconds since the reference date, as in ``json``.
    ///
    /// - Throws: `manifest.unsupported` at a value that the format cannot hold: null in a property list, a number that is not
    ///   finite in JSON, a control character in XML.
    public func encoded(as format: ManifestFormat) throws(BackplaneError) -> Data {
        do { return try encoded(as: format, in: ManifestShape.whole(self), of: .manifest) } catch { throw BackplaneError(manifest: error) }
    }
}

extension DocumentSubject {
    static var manifest: DocumentSubject { DocumentSubject("manifest", root: "a manifest is a dictionary") }
}

extension BackplaneError {
    /// What is wrong with a manifest as a document.
    init(manifest error: DocumentError) {
        let code = switch error.kind {
        case .malformed: Code.manifestMalformed
        case .unsupported: Code.manifestUnsupported
        }
        self.init(code, error.description, at: error.location)
    }
}
