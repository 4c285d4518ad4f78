/// What a thread was doing at one moment: where it was, and the inner end of its stack.
package struct ThreadSample: Sendable, Hashable {
    package var programCounter: UInt
    package var stackPointer: UInt
    /// Where the record of the innermost frame lies, if the function keeps one; `nil`: not known.
    package var framePointer: UInt?
    /// The words of the stack from ``stackPointer`` on.
    package var stack: [UInt]
    /// The stack went on where ``stack`` ends.
    package var isCut: Bool

    package init(programCounter: UInt, stackPointer: UInt, framePointer: UInt? = nil, stack: [UInt], isCut: Bool = false) {
        (self.programCounter, self.stackPointer, self.framePointer) = (programCounter, stackPointer, framePointer)
        (self.stack, self.isCut) = (stack, isCut)
    }
}

extension ThreadSample {
    /// An address of code on a stack.
    package struct Frame: Sendable, Hashable {
        package enum Origin: Sendable, Hashable {
            /// The record that the frame further in names; of the innermost one, the program counter.
            case chain
            /// A record that was searched for, since the chain begins or is broken there.
            case search
            /// A word of a function that keeps no record: it may be left over from an earlier call.
            case guess
        }
        package var address: UInt
        package var origin: Origin

        package init(_ address: UInt, _ origin: Origin) { (self.address, self.origin) = (address, origin) }
    }

    /// The functions that are under way, from the innermost outwards; after the first one of the thread, nonsense.
    ///
    /// A frame record is two words: where the caller's record lies, and where the caller goes on. Swift keeps them, C often
    /// does not: what stands before the first record, or where the chain of them is broken, is looked through word by word.
    package func frames(in map: MemoryMap) -> [Frame] {
        var frames = [Frame(programCounter, .chain)], place = 0
        var next = framePointer.flatMap(index)
        while place < stack.count {
            let named = next.flatMap { $0 >= place && isRecord($0, map) ? $0 : nil }
            let record = named ?? stack.indices[place...].first { isRecord($0, map) }
            // Functions without a record of their own may have been called before the innermost one that has.
            if named == nil || place == 0 {
                frames += stack[place..<(record ?? stack.count)].filter { map.region(at: $0) != nil }.map { Frame($0, .guess) }
            }
            guard let record else { break }
            frames.append(Frame(stack[record + 1], named == nil ? .search : .chain))
            next = index(of: stack[record])
            place = record + 2
        }
        return frames
    }

    /// Which word of ``stack`` lies at an address.
    private func index(of address: UInt) -> Int? {
        // Bit 60 marks the record of a Swift async function.
        let address = address & ~(1 << 60)
        guard address >= stackPointer, address % 8 == stackPointer % 8 else { return nil }
        let index = (address - stackPointer) / 8
        return index < UInt(stack.count) ? Int(index) : nil
    }

    /// A record names another one further out, and code.
    private func isRecord(_ place: Int, _ map: MemoryMap) -> Bool {
        guard place + 1 < stack.count, map.region(at: stack[place + 1]) != nil else { return false }
        let outer = stack[place] & ~(1 << 60)
        return outer == 0 || (outer > stackPointer && (outer - stackPointer) / 8 > UInt(place) && outer - stackPointer < 1 << 30)
    }
}
