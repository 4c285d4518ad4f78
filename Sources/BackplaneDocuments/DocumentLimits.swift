/// The maximum size of a document, so that a damaged or hostile one is an error and does not exhaust the machine.
public enum DocumentLimits {
    /// The maximum size in bytes: 16 MiB.
    public static let bytes = 16 << 20
    /// The maximum depth of nested dictionaries and arrays.
    ///
    /// Writers and the readers of property lists recurse, on threads with small stacks.
    public static let depth = 64
    /// The maximum number of values.
    ///
    /// A binary property list can reference one value many times and so unfold without end.
    public static let values = 1_000_000
    /// The maximum size of a key in bytes.
    ///
    /// Keys are repeated in the paths of all values below them.
    public static let key = 1_024

    static let keyTooLong = "a key of more than \(key) bytes"
    static let tooDeep = "nested deeper than \(depth) levels"
    static func tooManyValues(_ subject: DocumentSubject) -> String {
        "the \(subject.noun) has more than \(values) values"
    }
    static func tooLarge(_ subject: DocumentSubject) -> String {
        "the \(subject.noun) is larger than \(bytes >> 20) MB"
    }
}
