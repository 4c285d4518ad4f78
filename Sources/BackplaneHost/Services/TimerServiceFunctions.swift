import Backplane
import BackplaneBoundary
import CBackplane

/// The functions of `backplane.timers/1`.
let timerFunctions = bp_timers_1(
    size: UInt32(MemoryLayout<bp_timers_1>.size), reserved: 0,
    add: { handle, timer, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            let timer: bp_timer = read(timer)
            guard timer.fire != nil else {
                throw BackplaneError(.timerRefused, "the timer has no `fire` function")
            }
            guard timer.name.length <= 128 else {
                throw BackplaneError(
                    .timerRefused,
                    "the timer's name has \(UInt(bitPattern: timer.name.length)) bytes; at most 128 are allowed")
            }
            let request = ComponentTimers.Request(
                name: timer.name.text, delay: timer.delay_ns, period: timer.period_ns, jitter: timer.jitter_ns,
                limit: timer.limit_ns)
            let number = try component.timers.add(request) { TimerFunctions(timer, component.contexts.add()) }
            reply.end(EncodedAnswer([]))
            return number
        } catch {
            reply.end(error)
            return 0
        }
    },
    remove: { handle, timer in ComponentHandles.find(handle)?.timers.remove(timer) })
