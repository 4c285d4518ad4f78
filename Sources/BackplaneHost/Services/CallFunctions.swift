import Backplane
import BackplaneBoundary
import CBackplane

/// The functions of `backplane.calls/1`.
let callFunctions = bp_calls_1(
    size: UInt32(MemoryLayout<bp_calls_1>.size), reserved: 0,
    call: { handle, wire, method, input, frame, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            let wire = try component.wire(wire)
            let call = try component.begin(reply)
            let id = wire.call(Int(method), input, Call(copying: frame), Reply { component.answer(call, $0, $1) })
            if id != 0 { component.keep(call) { wire.cancel(id) } }
            return id
        } catch {
            reply.end(error)
            return 0
        }
    },
    // The wire that the call began on is not recorded; on any other wire the id is unknown and ignored.
    cancel: { handle, id in
        for wire in ComponentHandles.find(handle)?.allWires ?? [] { wire.cancel(id) }
    },
    find: { handle, name, needed, frame, done, context in
        let reply = FoundReply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.manager, for: "the lookup of managers")
            let name = name.text, needed = try component.managers.asker.needed(needed),
                call = frame.map { Call(copying: $0) }
            try component.begin()
            Task {
                let found = await component.managers.find(name, needed, call)
                if case .success(let found) = found { component.add(found.wire, as: found.id) }
                reply.end(found, sharesSlots: component.managers.asker.sharesSlots)
                component.end()
            }
        } catch {
            reply.end(.failure(error), sharesSlots: false)
        }
    },
    providers: { handle, needed, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            try component.require(.manager, for: "the lookup of managers")
            let contract = try component.managers.asker.needed(needed).side.contract
            try component.begin()
            Task {
                reply.end(await component.managers.providers(contract))
                component.end()
            }
        } catch {
            reply.end(error)
        }
    })
