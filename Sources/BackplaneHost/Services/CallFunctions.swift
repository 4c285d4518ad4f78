import Backplane
import CBackplane

/// `backplane.calls/1`.
let callFunctions = bp_calls_1(
    size: UInt32(MemoryLayout<bp_calls_1>.size), reserved: 0,
    call: { handle, wire, method, input, frame, done, context in
        let answer = CallAnswer(done: done, context: context)
        do throws(BackplaneError) {
            guard let wire = try ComponentHandles.require(handle).wires[wire] else {
                throw BackplaneError(.wireUnknown, "the component has no wire with the handle \(wire)")
            }
            return wire.call(Int(method), input.array, Call(copying: frame)) { answer.end($0) }
        } catch {
            answer.end(EncodedAnswer(error))
            return 0
        }
    },
    // Any of its wires will do: the number is one in the process, and wires end what they began only.
    cancel: { handle, id in
        for wire in ComponentHandles.find(handle)?.wires.values ?? [:].values { wire.cancel(id) }
    })

/// Where a plugin wants an answer.
struct CallAnswer: @unchecked Sendable {        // the plugin's own context, handed back untouched
    let done: bp_done
    let context: UnsafeMutableRawPointer?

    func end(_ answer: EncodedAnswer) {
        answer.payload.withBytes { done(context, answer.status, $0) }
    }
}
