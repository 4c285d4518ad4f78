/// Stretches of a file's bytes, each where it lies in the file; of what is between them nothing is known.
package struct FileExcerpt: Sendable {
    /// In bytes: the whole file.
    package let fileSize: Int
    private let stretches: [Stretch]

    private struct Stretch: Sendable {
        let start: Int
        let bytes: [UInt8]
    }

    /// A file of which everything is known.
    package init(_ bytes: [UInt8]) {
        (fileSize, stretches) = (bytes.count, [Stretch(start: 0, bytes: bytes)])
    }

    init(_ stretches: [(start: Int, bytes: [UInt8])], of fileSize: Int) {
        (self.fileSize, self.stretches) = (fileSize, stretches.map { Stretch(start: $0.start, bytes: $0.bytes) })
    }

    /// The bytes at `range` of the file; `nil`: not all of them are known.
    subscript(range: Range<Int>) -> ArraySlice<UInt8>? {
        for stretch in stretches where stretch.start <= range.lowerBound && range.upperBound <= stretch.start + stretch.bytes.count {
            return stretch.bytes[range.lowerBound - stretch.start..<range.upperBound - stretch.start]
        }
        return nil
    }
}
