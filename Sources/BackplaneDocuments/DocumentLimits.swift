/// The size that a document may have, so that a damaged or hostile one is an error and not an exhausted machine.
public enum DocumentLimits {
    public static let bytes = 16 << 20
    /// Dictionaries and arrays inside one another. Readers of property lists and writers recurse, on threads with small stacks.
    public static let depth = 64
    /// Values inside one another and beside one another. A binary property list can name one value many times over and so unfold without end.
    public static let values = 1_000_000
    /// Of a key in bytes: keys stand in every place below them.
    public static let key = 1_024

    static let keyTooLong = "a key of more than \(key) bytes"
    static let tooDeep = "nested deeper than \(depth) levels"
    static func tooManyValues(_ subject: DocumentSubject) -> String { "the \(subject.noun) has more than \(values) values" }
    static func tooLarge(_ subject: DocumentSubject) -> String { "the \(subject.noun) is larger than \(bytes >> 20) MB" }
}
