import CBackplane
import FoundationEssentials

/// The completion of an encoded call by a component, exactly once.
@usableFromInline
struct CallEnding: Sendable {
    let instance: Instance
    let id: UInt64
    let reply: Reply

    func end(_ output: Data) {
        instance.ended(id)
        output.withBytes { reply.end(Int32(BP_OK), $0) }
    }

    func end(_ output: [UInt8]) {
        instance.ended(id)
        output.withBytes { reply.end(Int32(BP_OK), $0) }
    }

    func end(_ error: BackplaneError) {
        instance.ended(id)
        reply.end(error)
    }
}
