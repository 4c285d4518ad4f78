import Backplane
import BackplaneBoundary
import CBackplane

/// The functions of `backplane.streams/1`.
let streamFunctions = bp_streams_1(
    size: UInt32(MemoryLayout<bp_streams_1>.size), reserved: 0,
    open: { handle, wire, method, input, frame in
        guard let component = ComponentHandles.find(handle) else { return Callbacks.newID() }
        do throws(BackplaneError) {
            let wire = try component.wire(wire)
            return component.keep(wire.open(.declared(Int(method)), input.array, Call(copying: frame)))
        } catch {
            return component.keep(ServedStream(failed: error))
        }
    },
    next: { handle, id, count, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle), stream = try component.stream(id)
            guard count > 0 else {
                throw BackplaneError(.streamMisused, "0 elements were requested; expected at least 1")
            }
            let call = try component.begin(reply)
            stream.next(Int(count), Reply { component.answer(call, $0, $1) })
        } catch {
            reply.end(error)
        }
    },
    close: { handle, id in ComponentHandles.find(handle)?.removeStream(id)?.close() })
