import Backplane
import CBackplane

/// The result of calling the entry function with an answer struct smaller than the current one.
struct BoundFacts: Codable, Sendable {
    var room: Int
    /// The first byte past the end of the struct to which the entry function wrote.
    var overrun: Int?

    var verdicts: Verdicts {
        [
            .bounded: Verdict(
                findings: overrun.map {
                    "it wrote to byte \($0) of an answer of \(room); write no more than `answer->size` covers"
                }.map { [$0] } ?? [])
        ]
    }
}

extension Candidate {
    func bounds() throws(BackplaneError) -> BoundFacts {
        let entry = try entry(), pattern: UInt8 = 0xA5
        let room = MemoryLayout.offset(of: \bp_answer.problems)!, size = MemoryLayout<bp_answer>.size
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 2 * size, alignment: MemoryLayout<bp_answer>.alignment)
        memory.initializeMemory(as: UInt8.self, repeating: pattern)
        for index in 0..<room { memory[index] = 0 }
        memory.storeBytes(of: UInt32(room), as: UInt32.self)
        note("its entry ran with an answer of \(room) bytes")
        _ = PlainOffer.ask(entry, memory.baseAddress!.assumingMemoryBound(to: bp_answer.self))
        return BoundFacts(room: room, overrun: (room..<memory.count).first { memory[$0] != pattern })
    }
}
