public import FoundationEssentials

extension DocumentValue {
    /// Parses JSON, an XML property list or a binary one, detected by the first bytes.
    ///
    /// - Parameter subject: The name of the document in errors.
    /// - Throws: ``DocumentError``, with line and column if the document is text, including for a document that exceeds
    ///   ``DocumentLimits``.
    public init(parsing bytes: Data, as subject: DocumentSubject) throws(DocumentError) {
        guard bytes.count <= DocumentLimits.bytes else { throw .tooLarge(subject) }
        switch DocumentFormat(of: bytes) {
        case .json: self = try JSONReader.read(bytes, as: subject)
        case .xml: self = try PropertyListReader.read(bytes, as: subject)
        case .binary: self = try BinaryPropertyListReader.read(bytes, as: subject)
        }
    }
}

extension Data {
    /// The bytes without the byte order mark that some editors put at the start of UTF-8 files.
    package var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}
