import Glibc

/// A namespace for threads of libdispatch's pool, which the whole process shares.
package enum PoolThread {
    /// Returns whether a thread of this process belongs to the pool and waits for work.
    ///
    /// This is the case if its first function is libdispatch's, and its stack contains no address of the library's
    /// code. A running thread does not count.
    ///
    /// - Parameter library: The path of the library whose code the thread may be running.
    package static func isIdle(_ thread: Int32, besides library: String) -> Bool {
        // The thread has ended.
        guard let line = text("/proc/self/task/\(thread)/syscall") else { return true }
        let fields = line.split(whereSeparator: \.isWhitespace)
        // The line is "running", or ends with the stack pointer and the program counter.
        let registers = fields.suffix(2).compactMap { UInt($0.dropFirst(2), radix: 16) }
        guard fields.count >= 3, registers.count == 2, let code = code() else { return false }
        var isDispatch = false
        for word in [registers[1]] + words(at: registers[0]) {
            guard let path = code.first(where: { $0.addresses.contains(word) })?.path else { continue }
            if path == library { return false }
            let name = FilePath.name(of: path)
            if isDispatch, name.hasPrefix("libc.") || name.hasPrefix("libpthread.") { return true }
            isDispatch = name == "libdispatch.so"
        }
        return false
    }

    /// Returns the innermost words of a stack.
    private static func words(at address: UInt) -> [UInt] {
        guard let memory = try? FileDescriptor(opening: "/proc/self/mem", O_RDONLY) else { return [] }
        var words = [UInt](repeating: 0, count: 1 << 13)
        let count = words.withUnsafeMutableBytes {
            pread(memory.number, $0.baseAddress, $0.count, Int(bitPattern: address))
        }
        return Array(words.prefix(max(0, count) / MemoryLayout<UInt>.size))
    }

    /// Returns the address ranges of code in this process, with the file of each.
    ///
    /// They come from lines such as `7f5c0000-7f5c1000 r-xp 00002000 fe:01 1234   /lib/libc.so`; `dl_iterate_phdr`
    /// would wait for as long as a library's constructor hangs.
    private static func code() -> [(addresses: Range<UInt>, path: String)]? {
        text("/proc/self/maps")?.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5),
                bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields.count == 6, fields[1].contains("x"), bounds.count == 2, bounds[0] < bounds[1] else {
                return nil
            }
            return (bounds[0]..<bounds[1], String(fields[5].drop { $0 == " " }))
        }
    }

    private static func text(_ path: String) -> String? {
        guard let file = try? FileDescriptor(opening: path, O_RDONLY), let bytes = try? file.bytes(count: 1 << 23)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
