import Backplane
import CBackplane

/// `backplane.calls/1`.
let callFunctions = bp_calls_1(
    size: UInt32(MemoryLayout<bp_calls_1>.size), reserved: 0,
    call: { handle, wire, method, input, frame, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            guard let wire = component.wires[wire] else {
                throw BackplaneError(.wireUnknown, "the component has no wire with the handle \(wire)")
            }
            let call = try component.begin(reply)
            let id = wire.call(Int(method), input, Call(copying: frame), Reply { component.answer(call, $0, $1) })
            if id != 0 { component.keep(call) { wire.cancel(id) } }
            return id
        } catch {
            reply.end(error)
            return 0
        }
    },
    // Which wire it began on is not known; those that did not begin it know no such number.
    cancel: { handle, id in
        for wire in ComponentHandles.find(handle)?.wires.values ?? [:].values { wire.cancel(id) }
    })
