public import FoundationEssentials

extension DocumentValue {
    /// The value as a file, the same bytes for the same value, members in the order of the alphabet.
    ///
    /// JSON has neither data nor dates: they become base64 and seconds since the reference date, as in ``json``.
    ///
    /// - Throws: ``DocumentError`` at a value that the format cannot hold: null in a property list, a number that is not
    ///   finite in JSON, a control character in XML.
    public func encoded(as format: DocumentFormat, of subject: DocumentSubject) throws(DocumentError) -> Data {
        try encoded(as: format, in: AlphabeticalOrder(), of: subject)
    }

    /// The same with the members in an order of their own.
    package func encoded(as format: DocumentFormat, in order: some MemberOrder, of subject: DocumentSubject) throws(DocumentError) -> Data {
        try requireReadable(subject)
        let bytes = switch format {
        case .json: try JSONWriter.write(self, order)
        case .xml: try PropertyListWriter.write(self, order, subject)
        case .binary: try BinaryPropertyListWriter.write(self, order, subject)
        }
        guard bytes.count <= DocumentLimits.bytes else {
            let words = "the \(subject.noun) would be larger than \(DocumentLimits.bytes >> 20) MB, which could not be read again"
            throw DocumentError(unwritable: words, at: DocumentPath())
        }
        return bytes
    }

    /// - Throws: for what is beyond the limits and could not be read again.
    private func requireReadable(_ subject: DocumentSubject) throws(DocumentError) {
        var values = 0
        func depth(_ value: DocumentValue, _ above: Int) -> Int {
            values += 1
            return switch value {
            case _ where above > DocumentLimits.depth: above
            case .array(let values): values.reduce(above + 1) { max($0, depth($1, above + 1)) }
            case .dictionary(let members): members.values.reduce(above + 1) { max($0, depth($1, above + 1)) }
            default: above
            }
        }
        guard depth(self, 0) <= DocumentLimits.depth else { throw DocumentError(unwritable: DocumentLimits.tooDeep, at: DocumentPath()) }
        guard values <= DocumentLimits.values else { throw DocumentError(unwritable: DocumentLimits.tooManyValues(subject), at: DocumentPath()) }
    }
}
