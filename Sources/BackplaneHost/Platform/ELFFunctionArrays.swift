/// The arrays of functions that run when a library is loaded and when the process ends.
///
/// Their elements become addresses only by relocation, so each element must be the target of one.
struct ELFFunctionArrays {
    private var arrays: [(what: String, addresses: Range<UInt64>, isRelocated: [Bool])] = []

    /// Creates the arrays of a library, without relocations yet.
    init(_ tables: ELFLoaderTables) throws(ELFImage.Defect) {
        typealias Tag = ELFDynamicSection.Tag
        for (what, tag) in [("initialiser", Tag.initialiser), ("finaliser", Tag.finaliser)] {
            guard let address = tables.dynamic[tag] else { continue }
            guard tables.memory.has(address, 1, ELFImage.Segment.executable) else {
                throw .misleading("its \(what) is at \(hex(address)), outside its code")
            }
        }
        for (what, tag, sizeTag) in [
            ("initialisers", Tag.initialisers, Tag.initialisersSize),
            ("finalisers", Tag.finalisers, Tag.finalisersSize),
        ] {
            guard let start = tables.dynamic[tag] else { continue }
            let size = try tables.require(sizeTag, "size of its \(what)")
            if size == 0 { continue }
            _ = try tables.memory.bytes(at: start, size, "the table of its \(what)")
            guard size % 8 == 0 else { throw .misleading("the table of its \(what) has \(size) bytes") }
            arrays.append((what, start..<start + size, [Bool](repeating: false, count: Int(size / 8))))
        }
    }

    /// Records that the address at a location is relocated; returns whether it is that of a function.
    mutating func relocate(_ place: UInt64) -> Bool {
        for index in arrays.indices where arrays[index].addresses.contains(place) {
            let offset = place - arrays[index].addresses.lowerBound
            if offset % 8 == 0 { arrays[index].isRelocated[Int(offset / 8)] = true }
            return true
        }
        return false
    }

    /// Checks that every function was relocated.
    func requireRelocated() throws(ELFImage.Defect) {
        for array in arrays {
            guard let number = array.isRelocated.firstIndex(of: false) else { continue }
            throw .misleading("no relocation provides the address of function \(number) of its \(array.what)")
        }
    }
}
