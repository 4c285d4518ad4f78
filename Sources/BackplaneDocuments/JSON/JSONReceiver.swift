/// The listener to ``JSONGrammar``, told of every value in the order of the text.
protocol JSONReceiver {
    typealias Mistake = DocumentMistake

    var subject: DocumentSubject { get }
    /// Whatever it is, comes here.
    mutating func valueBegins(at offset: Int) throws(Mistake)
    mutating func containerBegins(isObject: Bool, at offset: Int) throws(Mistake)
    /// - Parameter end: the offset behind the closing bracket.
    mutating func containerEnds(at end: Int) throws(Mistake)
    /// The key of the value that comes next.
    mutating func key(_ key: String, at offset: Int)
    mutating func string(_ string: String, endingAt end: Int) throws(Mistake)
    /// - Parameter text: as it is written, with the offsets of the whole text.
    mutating func number(_ text: ArraySlice<UInt8>, isWhole: Bool) throws(Mistake)
    /// `true`, `false` or `null`.
    mutating func word(_ value: JSONValue, endingAt end: Int) throws(Mistake)
    /// Half of a surrogate pair in a string, which becomes U+FFFD unless this throws.
    func halfOfPair(at offset: Int) throws(Mistake)
}
