import Backplane
import BackplaneBoundary
import CBackplane

/// A call of an entry function that can be made from C.
final class EntryCall {
    private let entry: PluginDescription.Entry
    private var answer = bp_answer()

    init(_ entry: PluginDescription.Entry) {
        self.entry = entry
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
    }

    /// The retained call as a C context; never released, because the process exits soon.
    var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let call = Unmanaged<EntryCall>.fromOpaque(context).takeUnretainedValue()
        _ = PlainOffer.ask(call.entry, &call.answer)
    }
}
