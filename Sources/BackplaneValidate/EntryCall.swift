import Backplane
import BackplaneBoundary
import CBackplane

/// An entry to be called from C.
final class EntryCall {
    private let entry: PluginDescription.Entry
    private var answer = bp_answer()

    init(_ entry: PluginDescription.Entry) {
        self.entry = entry
        answer.size = UInt32(MemoryLayout<bp_answer>.size)
    }

    /// Never freed: the process ends soon.
    var context: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let call = Unmanaged<EntryCall>.fromOpaque(context).takeUnretainedValue()
        _ = PlainOffer.ask(call.entry, &call.answer)
    }
}
