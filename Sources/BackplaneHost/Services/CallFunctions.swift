import Backplane
import CBackplane

/// `backplane.calls/1`.
let callFunctions = bp_calls_1(
    size: UInt32(MemoryLayout<bp_calls_1>.size), reserved: 0,
    call: { handle, wire, method, input, frame, done, context in
        let answer = CallAnswer(done: done, context: context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            guard let wire = component.wires[wire] else {
                throw BackplaneError(.wireUnknown, "the component has no wire with the handle \(wire)")
            }
            try component.begin()
            return wire.call(Int(method), input.array, Call(copying: frame)) { result in
                answer.end(result)
                component.end()
            }
        } catch {
            answer.end(EncodedAnswer(error))
            return 0
        }
    },
    // Which wire it began on is not known; those that did not begin it know no such number.
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
