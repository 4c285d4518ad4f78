/// The maximum size of a document, so that a damaged or hostile one is rejected and cannot exhaust the machine.
public enum DocumentLimits {
    /// The maximum size in bytes: 16 MiB.
    public static let bytes = 16 << 20
    /// The maximum depth of nested dictionaries and arrays.
    ///
    /// Writers and the readers of property lists recurse, on threads with small stacks.
    public static let depth = 64
    /// The maximum number of values.
    ///
    /// A binary property list can reference one value many times and thereby expand endlessly.
    public static let values = 1_000_000
    /// The maximum size of a key in bytes.
    ///
    /// A key is repeated in the paths of all values below it.
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
