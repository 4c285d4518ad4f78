import Glibc

/// Memory that ends where the readable pages end: who reads or writes one byte too many crashes.
final class GuardedMemory: @unchecked Sendable {  // lent to one side at a time
    let start: UnsafeMutableRawPointer
    let count: Int
    private let mapping: UnsafeMutableRawPointer
    private let mapped: Int

    /// `count` bytes of 0xAA.
    init(count: Int) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        mapped = (count + page - 1) / page * page + page
        mapping = mmap(nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        precondition(mapping != MAP_FAILED)
        precondition(mprotect(mapping + mapped - page, page, PROT_NONE) == 0)
        (start, self.count) = (mapping + mapped - page - count, count)
        start.initializeMemory(as: UInt8.self, repeating: 0xAA, count: count)
    }

    /// Values as a side lends them whose struct has `size` bytes: cut off where it is shorter, junk behind where it is
    /// longer.
    ///
    /// - Precondition: `Value` begins with its size.
    convenience init<Value>(_ values: [Value], size: Int) {
        self.init(count: size * values.count)
        for (index, value) in values.enumerated() {
            let place = start + index * size
            withUnsafeBytes(of: value) { place.copyMemory(from: $0.baseAddress!, byteCount: min(size, $0.count)) }
            place.storeBytes(of: UInt32(size), as: UInt32.self)
        }
    }

    deinit {
        munmap(mapping, mapped)
    }

    func pointer<Value>(as _: Value.Type = Value.self) -> UnsafeMutablePointer<Value> {
        start.assumingMemoryBound(to: Value.self)
    }

    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }
}
