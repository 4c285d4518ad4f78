import Backplane
import BackplaneBoundary
import CBackplane

/// A call of the entry function by a stub host without the native lane, which treats every plugin as if it were written
/// in C.
enum PlainOffer {
    /// Calls the entry function with the given answer struct.
    static func ask(_ entry: PluginDescription.Entry, _ answer: UnsafeMutablePointer<bp_answer>) -> Int32 {
        let version = Array("0.0.0".utf8)
        return version.withBytes { version in
            var offer = bp_offer(
                size: UInt32(MemoryLayout<bp_offer>.size), abi_min: UInt32(BP_ABI_MIN), abi_max: UInt32(BP_ABI_MAX),
                lane_revision: 0,
                host_version: version, toolchain: .empty, get_interface: StubServices.get)
            return entry(&offer, answer)
        }
    }
}
