/// A path, or a single name, as the system has it: bytes that need not be text, and that are the same only when every byte is.
///
/// As a `String` two names can be one that the system tells apart, and a name that is not UTF-8 finds its file no more.
package struct RawPath: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { self.init(bytes: [UInt8](text.utf8)) }

    /// To be read; what is not UTF-8 is replaced in it.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// The names it consists of.
    package var names: [RawPath] { bytes.split(separator: Self.slash).map { RawPath(bytes: [UInt8]($0)) } }

    /// `name` in the folder that this is the path of.
    package func appending(_ name: RawPath) -> RawPath {
        RawPath(bytes: bytes.last == Self.slash ? bytes + name.bytes : bytes + [Self.slash] + name.bytes)
    }

    /// What stands before the last slash; `/` for that itself.
    package var folder: RawPath {
        guard let end = bytes.lastIndex(of: Self.slash), end > 0 else { return .root }
        return RawPath(bytes: [UInt8](bytes[..<end]))
    }

    package static let root = RawPath("/")
    private static let slash = UInt8(ascii: "/")

    /// Calls `body` with the bytes and a zero behind them, which must not be among them.
    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes + [0]).withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
    }
}
