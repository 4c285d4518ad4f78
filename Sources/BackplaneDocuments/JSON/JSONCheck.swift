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

    /// Returns the element of an array that has exactly one, byte for byte; `nil` for anything else.
    package static func onlyElement(of array: [UInt8]) -> [UInt8]? {
        func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let start = bytes.drop { $0.isSpace }
            return start.prefix((start.lastIndex { !$0.isSpace } ?? start.startIndex - 1) - start.startIndex + 1)
        }
        let array = trimmed(array[...])
        guard array.count > 2, array.first == UInt8(ascii: "["), array.last == UInt8(ascii: "]") else { return nil }
        let element = Array(trimmed(array.dropFirst().dropLast()))
        return isJSON(element) ? element : nil
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
