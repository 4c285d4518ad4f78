/// A check of whether bytes are JSON according to its grammar, in UTF-8 and without a byte order mark.
///
/// The limits of ``JSONValue`` on depth and numbers do not apply, because JSON has none. Foundation's reader also
/// accepts other encodings.
package enum JSONCheck {
    package static func isJSON(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var grammar = JSONGrammar(bytes, Anything())
        return (try? grammar.document()) != nil
    }

    /// A receiver that accepts everything the grammar allows.
    private struct Anything: JSONReceiver {
        var subject: DocumentSubject { .document }
        func valueBegins(at offset: Int) {}
        func containerBegins(isObject: Bool, at offset: Int) {}
        func containerEnds(at end: Int) {}
        func key(_ key: String, at offset: Int) {}
        func string(_ string: String, endingAt end: Int) {}
        func number(_ text: ArraySlice<UInt8>, isWhole: Bool) {}
        func word(_ value: Bool?, endingAt end: Int) {}
        func halfOfPair(at offset: Int) {}
    }
}
