public import Backplane
public import BackplaneDocuments
public import FoundationEssentials

// A manifest that is built in Swift contains values; importing the host is enough to write them.
@_exported public import enum BackplaneDocuments.DocumentValue

/// A value of a manifest, independent of its original format.
public typealias ManifestValue = DocumentValue

/// The file format of a manifest.
public typealias ManifestFormat = DocumentFormat

/// A place in a manifest.
typealias ManifestPath = DocumentPath

extension ManifestValue {
    /// Creates a value from JSON, or an XML or binary property list, detected by the first bytes.
    ///
    /// - Throws: `manifest.malformed`, with line and column for text; `manifest.unsupported` for more than 16 MB, 64
    ///   levels or a million values.
    public init(parsing bytes: Data) throws(BackplaneError) {
        do { try self.init(parsing: bytes, as: .manifest) } catch { throw BackplaneError(manifest: error) }
    }

    /// Returns the value as the contents of a file, whose bytes are identical for equal values.
    ///
    /// They are formatted for reading where the format permits it.
    ///
    /// JSON has neither data nor dates: they become base64 and seconds since the reference date, as in ``json``.
    ///
    /// - Throws: `manifest.unsupported` at a value that the format cannot represent: null in a property list, a number
    ///   that is not finite in JSON, or a control character in XML.
    public func encoded(as format: ManifestFormat) throws(BackplaneError) -> Data {
        do { return try encoded(as: format, in: ManifestShape.whole(self), of: .manifest) } catch {
            throw BackplaneError(manifest: error)
        }
    }
}

extension DocumentSubject {
    static var manifest: DocumentSubject { DocumentSubject("manifest", root: "a manifest is a dictionary") }
}

extension BackplaneError {
    /// Creates an error from one that was found while reading or writing a manifest as a document.
    init(manifest error: DocumentError) {
        let code =
            switch error.kind {
            case .malformed: Code.manifestMalformed
            case .unsupported: Code.manifestUnsupported
            }
        self.init(code, error.description, at: error.location)
    }
}
