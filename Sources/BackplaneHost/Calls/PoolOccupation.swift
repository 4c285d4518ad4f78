/// Whose code holds the threads of Swift's pool, as samples of all threads show it.
struct PoolOccupation: Hashable {
    /// Somebody's code, and where it is.
    struct Occupant: Hashable {
        enum Owner: Hashable {
            case plugin(PluginImage)
            /// A file that is no plugin of this host: its path.
            case other(String)
        }
        var owner: Owner
        var threads: Int
        /// Of the thread seen first, where it is in the owner's code: the innermost function first.
        var places: [Place]
    }

    /// A place in a file's code.
    struct Place: Hashable {
        var path: String
        var offset: UInt
    }

    /// Plugins first, then whoever has most threads.
    var occupants: [Occupant]
    /// Threads that run and could not be looked at.
    var unreachable: Int

    /// Nobody to name.
    var isEmpty: Bool { occupants.isEmpty && unreachable == 0 }

    /// - Parameter plugins: of this host; what lies in other files is others' code.
    init(_ samples: [ThreadSample], unreachable: Int = 0, in map: MemoryMap, plugins: [PluginImage]) {
        let images = Dictionary(plugins.map { ($0.copy, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [Occupant] = []
        for sample in samples {
            guard let (owner, places) = Self.owner(of: sample, map, images) else { continue }
            if let index = found.firstIndex(where: { $0.owner == owner }) {
                found[index].threads += 1
            } else {
                found.append(Occupant(owner: owner, threads: 1, places: places))
            }
        }
        occupants = found.enumerated().sorted { a, b in
            (a.element.isPlugin ? 0 : 1, -a.element.threads, a.offset) < (b.element.isPlugin ? 0 : 1, -b.element.threads, b.offset)
        }.map(\.element)
        self.unreachable = unreachable
    }

    /// The innermost plugin; without one, the innermost code of anybody's that an unbroken chain of frames leads to.
    ///
    /// A thread of the pool that has work has the runtime of Swift's tasks on its stack, called from libdispatch, whose
    /// thread it is. Where libdispatch was called by the system the thread begins: what lies beyond is not its stack.
    private static func owner(
        of sample: ThreadSample, _ map: MemoryMap, _ images: [String: PluginImage]
    ) -> (Occupant.Owner, [Place])? {
        var plugin: PluginImage?, places: [Place] = []
        var candidate: Place?, other: Place?
        var isTask = false, isDispatch = false
        for (depth, frame) in sample.frames(in: map).enumerated() {
            // A caller's address is the one after its call, which may be the next function's.
            let address = depth == 0 ? frame.address : frame.address - 1
            guard let region = map.region(at: address) else { continue }
            let place = Place(path: region.path, offset: address - region.addresses.lowerBound + region.offset)
            if !isTask, let image = images[region.path], plugin == nil || image == plugin {
                plugin = image
                places.append(place)
            }
            if frame.origin == .guess { continue }
            if frame.origin == .search { candidate = nil }
            if isDispatch, region.isSystem, !region.isDispatch, !region.isTaskRuntime {
                guard isTask else { return nil }
                return plugin.map { (.plugin($0), places) } ?? other.map { (.other($0.path), [$0]) }
            }
            isDispatch = region.isDispatch
            if region.isTaskRuntime {
                isTask = true
                other = other ?? candidate
            }
            if !region.isSystem { candidate = candidate ?? place }
        }
        // Deep in a recursion the beginning is not seen.
        return sample.isCut ? plugin.map { (.plugin($0), places) } : nil
    }
}

extension PoolOccupation.Occupant {
    fileprivate var isPlugin: Bool {
        if case .plugin = owner { true } else { false }
    }
}

extension MemoryMap.Region {
    fileprivate var fileName: Substring { path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...] }

    fileprivate var isDispatch: Bool { fileName == "libdispatch.so" }
    fileprivate var isTaskRuntime: Bool { fileName == "libswift_Concurrency.so" }

    /// The toolchain's and the system's libraries, which only ever work for somebody.
    fileprivate var isSystem: Bool {
        ["libswift", "libdispatch.", "libFoundation", "lib_Foundation", "libBlocksRuntime.", "libc.", "libm.", "libpthread.", "libstdc++.", "libgcc_s.", "ld-"]
            .contains { fileName.hasPrefix($0) }
    }
}
