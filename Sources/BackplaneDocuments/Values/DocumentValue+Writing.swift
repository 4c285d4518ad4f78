public import FoundationEssentials

extension DocumentValue {
    /// Returns the value as a file, with members in alphabetical order.
    ///
    /// Equal values produce equal bytes.
    ///
    /// JSON has neither data nor dates: they become base64 and seconds since the reference date, as in ``json``.
    ///
    /// - Parameter subject: The name of the document in errors.
    /// - Throws: ``DocumentError`` for a value that the format cannot represent (null in a property list, a number that
    ///   is not finite in JSON, a control character in XML), or a document that exceeds ``DocumentLimits``.
    public func encoded(as format: DocumentFormat, of subject: DocumentSubject) throws(DocumentError) -> Data {
        try encoded(as: format, in: AlphabeticalOrder(), of: subject)
    }

    /// Returns the value as a file, with members in a given order.
    package func encoded(as format: DocumentFormat, in order: some MemberOrder, of subject: DocumentSubject)
        throws(DocumentError) -> Data
    {
        try requireReadable(subject)
        let bytes =
            switch format {
            case .json: try JSONWriter.write(self, order)
            case .xml: try PropertyListWriter.write(self, order, subject)
            case .binary: try BinaryPropertyListWriter.write(self, order, subject)
            }
        guard bytes.count <= DocumentLimits.bytes else {
            let words =
                "the \(subject.noun) would be larger than \(DocumentLimits.bytes >> 20) MB, which could not be read again"
            throw DocumentError(unwritable: words, at: DocumentPath())
        }
        return bytes
    }

    /// Checks that the value does not exceed the limits, beyond which the document could not be read again.
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
        guard depth(self, 0) <= DocumentLimits.depth else {
            throw DocumentError(unwritable: DocumentLimits.tooDeep, at: DocumentPath())
        }
        guard values <= DocumentLimits.values else {
            throw DocumentError(unwritable: DocumentLimits.tooManyValues(subject), at: DocumentPath())
        }
    }
}
