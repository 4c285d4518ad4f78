/// Threads of libdispatch's pool, which work for everybody.
package enum PoolThread {
    /// Whether a thread of this process is one of them, and not in the midst of somebody's code.
    ///
    /// - Parameter library: the file whose code it would be.
    package static func isIdle(_ thread: Int32, besides library: String) -> Bool {
        // It has ended.
        guard let outcome = ThreadSampler.sample(thread) else { return true }
        guard case .sampled(let sample) = outcome, let map = try? MemoryMap.current() else { return false }
        return isIdle(sample, in: map, besides: library)
    }

    /// Its first function is libdispatch's, called by the system, and nothing of the library is under way between there and where it is.
    static func isIdle(_ sample: ThreadSample, in map: MemoryMap, besides library: String) -> Bool {
        var isDispatch = false
        for (depth, frame) in sample.frames(in: map).enumerated() {
            guard let region = map.region(at: depth == 0 ? frame.address : frame.address - 1) else { continue }
            if region.path == library { return false }
            if frame.origin == .guess { continue }
            let name = FilePath.name(of: region.path)
            if isDispatch, name.hasPrefix("libc.") || name.hasPrefix("libpthread.") { return true }
            isDispatch = name == "libdispatch.so"
        }
        return false
    }
}
