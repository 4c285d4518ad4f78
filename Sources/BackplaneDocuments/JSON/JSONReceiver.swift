/// The receiver of everything that ``JSONGrammar`` finds, in the order of the text.
package protocol JSONReceiver {
    typealias Mistake = DocumentMistake

    var subject: DocumentSubject { get }
    /// Receives the start of a value of any kind, before all other calls about it.
    mutating func valueBegins(at offset: Int) throws(Mistake)
    mutating func containerBegins(isObject: Bool, at offset: Int) throws(Mistake)
    /// Receives the end of an array or object.
    ///
    /// - Parameter end: The offset after the closing bracket.
    mutating func containerEnds(at end: Int) throws(Mistake)
    /// Receives the key of the next value.
    mutating func key(_ key: String, at offset: Int)
    mutating func string(_ string: String, endingAt end: Int) throws(Mistake)
    /// Receives a number.
    ///
    /// - Parameter text: The number as written, whose indices are offsets in the whole text.
    mutating func number(_ text: ArraySlice<UInt8>, isWhole: Bool) throws(Mistake)
    /// Receives `true` or `false`, or `nil` for `null`.
    mutating func word(_ value: Bool?, endingAt end: Int) throws(Mistake)
    /// Receives half of a surrogate pair in a string, which becomes U+FFFD unless this function throws an error.
    func halfOfPair(at offset: Int) throws(Mistake)
}
