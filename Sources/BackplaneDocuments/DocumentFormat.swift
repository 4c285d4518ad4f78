public import FoundationEssentials

/// The spelling of a document.
public enum DocumentFormat: String, Sendable, Hashable, CaseIterable {
    case json
    /// A property list as text.
    case xml
    /// A binary property list.
    case binary

    /// Tells them apart by what the bytes begin with.
    public init(of bytes: Data) {
        if bytes.starts(with: "bplist".utf8) {
            self = .binary
        } else {
            let first = bytes.withoutByteOrderMark.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }
            self = first == UInt8(ascii: "<") ? .xml : .json
        }
    }
}
