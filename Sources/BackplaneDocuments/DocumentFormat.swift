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
