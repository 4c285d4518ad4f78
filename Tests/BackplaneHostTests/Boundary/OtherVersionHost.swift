import Backplane
import CBackplane

/// A host of another year: its structs are longer or shorter than those that the SDK knows, and end at the edge of
/// memory.
struct OtherVersionHost {
    var abiMin: UInt32 = 0
    var abiMax: UInt32 = 0
    /// In bytes.
    var offerSize = MemoryLayout<bp_offer>.size
    var answerSize = MemoryLayout<bp_answer>.size
    var getInterface: bp_get_interface = { _, _ in nil }

    init() {}
    init(abi: ClosedRange<UInt32>) { (abiMin, abiMax) = (abi.lowerBound, abi.upperBound) }
    init(abiMin: UInt32, abiMax: UInt32) { (self.abiMin, self.abiMax) = (abiMin, abiMax) }

    /// What came of asking a plugin.
    struct Asked {
        var status: Int32
        /// As far as it was answered, and zero from there on.
        var answer: bp_answer
        /// In bytes.
        var offered: Int
        /// The bytes that are as they were before.
        var untouched: Range<Int>
    }

    func ask(_ plugin: any Plugin.Type) -> Asked {
        let offer = bp_offer(
            size: 0, abi_min: abiMin, abi_max: abiMax, lane_revision: 0, host_version: .empty, toolchain: .empty,
            get_interface: getInterface)
        let offerMemory = GuardedMemory([offer], size: offerSize), answerMemory = GuardedMemory(count: answerSize)
        answerMemory.start.storeBytes(of: UInt32(answerSize), as: UInt32.self)
        let before = answerMemory.bytes
        let status = withExtendedLifetime(offerMemory) { plugin.enter(offerMemory.pointer(), answerMemory.pointer()) }
        let after = answerMemory.bytes
        let touched = before.indices.last { before[$0] != after[$0] }.map { $0 + 1 } ?? 0
        let answer: bp_answer = read(UnsafeRawPointer(answerMemory.start))
        return Asked(status: status, answer: answer, offered: answerSize, untouched: touched..<answerSize)
    }
}
