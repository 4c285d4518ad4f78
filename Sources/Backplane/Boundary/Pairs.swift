package import CBackplane

/// A list of named strings that are lent across the boundary together.
package struct Pairs {
    private let bytes: [UInt8]
    private let lengths: [(name: Int, value: Int)]

    package init(_ pairs: [(key: String, value: String)]) {
        lengths = pairs.map { ($0.key.utf8.count, $0.value.utf8.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lengths.reduce(0) { $0 + $1.name + $1.value })
        for (name, value) in pairs {
            bytes += name.utf8
            bytes += value.utf8
        }
        self.bytes = bytes
    }

    package func withPairs<Result>(_ body: (UnsafeBufferPointer<bp_pair>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            var pairs: [bp_pair] = [], offset = 0
            pairs.reserveCapacity(lengths.count)
            for length in lengths {
                let name = bp_bytes(data: bytes.baseAddress.map { $0 + offset }, length: length.name)
                let value = bp_bytes(data: bytes.baseAddress.map { $0 + offset + length.name }, length: length.value)
                pairs.append(bp_pair(name: name, value: value))
                offset += length.name + length.value
            }
            return pairs.withUnsafeBufferPointer(body)
        }
    }

    /// Copies borrowed named strings.
    package static func copy(_ pairs: UnsafePointer<bp_pair>?, count: Int) -> [(name: String, value: String)] {
        guard let pairs, count > 0 else { return [] }
        return UnsafeBufferPointer(start: pairs, count: count).map { ($0.name.text, $0.value.text) }
    }
}
