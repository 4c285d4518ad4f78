import Glibc

/// Which files' code lies where in this process, as `/proc/self/maps` has it.
///
/// Read from there because `dladdr` and `dl_iterate_phdr` wait as long as the constructor of any library hangs.
package struct MemoryMap: Sendable {
    /// A stretch of one file's code.
    package struct Region: Sendable, Hashable {
        package let addresses: Range<UInt>
        /// Where the stretch begins in the file.
        package let offset: UInt
        package let path: String
    }

    /// By address.
    package let code: [Region]

    /// - Parameter text: lines such as `7f5c0000-7f5c1000 r-xp 00002000 fe:01 1234   /lib/libc.so`.
    package init(_ text: [UInt8]) {
        code = text.split(separator: UInt8(ascii: "\n")).compactMap(Region.init).sorted { $0.addresses.lowerBound < $1.addresses.lowerBound }
    }

    /// Of this process, now.
    static func current() throws(SystemError) -> MemoryMap {
        MemoryMap(try FileDescriptor(opening: "/proc/self/maps", O_RDONLY).bytes(count: 1 << 23))
    }

    /// The code that an address lies in.
    package func region(at address: UInt) -> Region? {
        var low = 0, high = code.count
        while low < high {
            let middle = (low + high) / 2
            if code[middle].addresses.upperBound <= address { low = middle + 1 } else { high = middle }
        }
        return low < code.count && code[low].addresses.contains(address) ? code[low] : nil
    }
}

extension MemoryMap.Region {
    /// `nil` for a line without code or without a file.
    fileprivate init?(_ line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: true)
        guard fields.count == 6, fields[1].count == 4, fields[1][fields[1].startIndex + 2] == UInt8(ascii: "x") else { return nil }
        let bounds = fields[0].split(separator: UInt8(ascii: "-")).compactMap(Self.number)
        guard bounds.count == 2, bounds[0] < bounds[1], let offset = Self.number(fields[2]) else { return nil }
        let path = fields[5].drop { $0 == UInt8(ascii: " ") }
        guard path.first == UInt8(ascii: "/") else { return nil }
        self.init(addresses: bounds[0]..<bounds[1], offset: offset, path: String(decoding: path, as: UTF8.self))
    }

    private static func number(_ text: ArraySlice<UInt8>) -> UInt? {
        UInt(String(decoding: text, as: UTF8.self), radix: 16)
    }
}
