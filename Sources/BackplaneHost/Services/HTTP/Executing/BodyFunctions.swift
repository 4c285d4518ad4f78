import Backplane
import BackplaneNetwork
import CBackplane

/// The functions of `backplane.bodies/1`.
let bodyFunctions = bp_bodies_1(
    size: UInt32(MemoryLayout<bp_bodies_1>.size), reserved: 0,
    pull: { handle, body, most, done, context in
        let reply = ChunkReply(done, context)
        do throws(BackplaneError) {
            _ = try ComponentHandles.require(handle)
            guard case .request(let body)? = BorrowedBodies.find(body) else { throw .bodyUnknown }
            body.pull(Int(clamping: most), reply)
        } catch {
            reply.end(error)
        }
    },
    push: { handle, body, piece, trailers, count, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try ComponentHandles.require(handle)
            guard case .response(let body)? = BorrowedBodies.find(body) else { throw .bodyUnknown }
            let push = try component.begin(reply, isWait: true)  // for the reader
            body.push(
                piece.array, trailers: HTTPHeaders(copying: trailers, count: count),
                Reply { component.answer(push, $0, $1) })
        } catch {
            reply.end(error)
        }
    })
