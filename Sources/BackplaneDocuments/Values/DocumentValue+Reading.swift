public import FoundationEssentials

extension DocumentValue {
    /// Reads JSON, an XML property list or a binary one, told apart by what the bytes begin with.
    ///
    /// - Throws: ``DocumentError``, of a text with line and column; beyond ``DocumentLimits`` too.
    public init(parsing bytes: Data, as subject: DocumentSubject) throws(DocumentError) {
        guard bytes.count <= DocumentLimits.bytes else { throw .tooLarge(subject) }
        switch DocumentFormat(of: bytes) {
        case .json: self.init(try JSONReader.read(bytes, as: subject))
        case .xml: self = try PropertyListReader.read(bytes, as: subject)
        case .binary: self = try BinaryPropertyListReader.read(bytes, as: subject)
        }
    }
}

extension Data {
    /// The bytes without the mark that some editors begin UTF-8 files with.
    package var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}
