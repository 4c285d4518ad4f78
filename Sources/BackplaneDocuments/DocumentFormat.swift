public import FoundationEssentials

/// The file format of a document.
public enum DocumentFormat: String, Sendable, Hashable, CaseIterable {
    /// A JSON text.
    case json
    /// An XML property list.
    case xml
    /// A binary property list.
    case binary

    /// Detects the format from the first bytes.
    ///
    /// Bytes that match no other format are treated as JSON.
    public init(of bytes: Data) {
        if bytes.starts(with: "bplist".utf8) {
            self = .binary
        } else {
            let first = bytes.withoutByteOrderMark.first { !$0.isSpace }
            self = first == UInt8(ascii: "<") ? .xml : .json
        }
    }
}

extension Data {
    /// The bytes without the byte order mark that some editors put at the start of UTF-8 files.
    package var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}

extension DocumentValue {
    /// Parses JSON or an XML or binary property list, detected by the first bytes.
    ///
    /// - Parameter subject: The name of the document in errors.
    /// - Throws: ``DocumentError``, with line and column in JSON, including for a document that exceeds
    ///   ``DocumentLimits``.
    public init(parsing bytes: Data, as subject: DocumentSubject) throws(DocumentError) {
        try subject.require(bytes)
        switch DocumentFormat(of: bytes) {
        case .json: try self.init(json: bytes, as: subject)
        case .xml: self = try PropertyList.read(xml: bytes, as: subject)
        case .binary:
            var reader = BinaryPropertyListReader(bytes, as: subject)
            self = try reader.document()
        }
    }

    /// Returns the value as a file, with members in a given order, except in a binary property list.
    ///
    /// Equal values produce equal bytes.
    ///
    /// JSON has neither data nor dates: they become base64 and seconds since the reference date, as in ``json``.
    ///
    /// - Parameter subject: The name of the document in errors.
    /// - Throws: ``DocumentError`` for a document that exceeds ``DocumentLimits``, or for a value that the format
    ///   cannot represent: null in a property list, a number that is not finite, or a control character in XML.
    package func encoded(as format: DocumentFormat, in order: some MemberOrder, of subject: DocumentSubject)
        throws(DocumentError) -> Data
    {
        try requireWritable(as: format, subject)
        let bytes: Data =
            switch format {
            case .json: Data(readableJSON(order) + [UInt8(ascii: "\n")])
            case .xml: XMLWriter.write(self, order)
            case .binary: try PropertyList.binary(self)
            }
        guard bytes.count <= DocumentLimits.bytes else { throw subject.tooLarge }
        return bytes
    }

    /// Checks that the format can represent all values, and that the document could be read again.
    private func requireWritable(as format: DocumentFormat, _ subject: DocumentSubject) throws(DocumentError) {
        var values = 0
        try visit { value, path, depth throws(DocumentError) in
            func refuse(_ reason: String, at path: DocumentPath = path) -> DocumentError {
                DocumentError(.unsupported, reason, location: path)
            }
            values += 1
            if values > DocumentLimits.values { throw refuse(subject.tooManyValues, at: DocumentPath()) }
            switch (value, format) {
            case (.array, _) where depth == DocumentLimits.depth, (.dictionary, _) where depth == DocumentLimits.depth:
                throw refuse(DocumentLimits.tooDeep(), at: DocumentPath())
            case (.number(let number), _) where !number.isFinite:
                throw refuse("a document cannot represent the number \(number)")
            case (_, .json): break
            case (.null, _):
                throw refuse("a property list cannot represent null; omit the key, or keep the \(subject.noun) in JSON")
            case (.string(let text), .xml):
                if let problem = XMLWriter.problem(text) { throw refuse(problem) }
            case (.date(let date), .xml):
                if let problem = XMLWriter.problem(date) { throw refuse(problem) }
            case (.dictionary(let members), .xml):
                for key in members.keys.sorted() {
                    if let problem = XMLWriter.problem(key) { throw refuse(problem, at: path / key) }
                }
            default: break
            }
        }
    }
}

/// The order in which the members of a value, and of the values in it, are written.
package protocol MemberOrder {
    var elements: Self { get }
    func member(_ key: String) -> Self
    func ordered(_ members: [String: DocumentValue]) -> [(key: String, value: DocumentValue)]
}
