/// A path or a single name as the system stores it: bytes that need not be text, compared byte by byte.
///
/// As `String` values, names that the system distinguishes could be equal, and a name that is not UTF-8 would no longer
/// identify its file.
package struct RawPath: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { self.init(bytes: [UInt8](text.utf8)) }

    /// The path as text for messages; bytes that are not UTF-8 are replaced.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package var isAbsolute: Bool { bytes.first == Self.slash }

    /// The components of the path.
    package var names: [RawPath] { bytes.split(separator: Self.slash).map { RawPath(bytes: [UInt8]($0)) } }

    /// Returns the path of `name` in the folder at this path.
    package func appending(_ name: RawPath) -> RawPath {
        RawPath(bytes: bytes.last == Self.slash ? bytes + name.bytes : bytes + [Self.slash] + name.bytes)
    }

    /// The part before the last slash; `/` for the root itself.
    package var folder: RawPath {
        guard let end = bytes.lastIndex(of: Self.slash), end > 0 else { return .root }
        return RawPath(bytes: [UInt8](bytes[..<end]))
    }

    package static let root = RawPath("/")
    private static let slash = UInt8(ascii: "/")

    /// Calls `body` with the bytes followed by a zero; the path itself must not contain one.
    package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes + [0]).withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
    }
}
