public import CBackplane

extension Slot {
    /// Requests a leased binding from the gate, for a call that finds the slot closed.
    @inline(never) @usableFromInline
    nonisolated(nonsending) func admission(of call: Call) async throws(BackplaneError) -> UnsafeMutablePointer<
        bp_binding
    > {
        let cancellation = Cancellation { pointer.pointee.gate.pointee.cancel(pointer, $0) }
        let admission: Admission = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                cancellation.began(ask(call) { continuation.resume(returning: $0) })
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try admission.get().binding
    }

    /// Requests a leased binding for a synchronous call.
    @inline(never) @usableFromInline
    func immediateAdmission(of call: Call) throws(BackplaneError) -> UnsafeMutablePointer<bp_binding> {
        let admission = Received<Admission>()
        let context = Box<@Sendable (Admission) -> Void> { admission.set($0) }.toContext()
        call.withC { pointer.pointee.gate.pointee.admit_now(pointer, $0, admitted, context) }
        guard let admission = admission.value else {
            throw BackplaneError(.callRetired, "the gate did not answer a synchronous call before returning")
        }
        return try admission.get().binding
    }

    private func ask(_ call: Call, _ done: @escaping @Sendable (Admission) -> Void) -> UInt64 {
        let context = Box(done).toContext()
        return call.withC { pointer.pointee.gate.pointee.wait(pointer, $0, admitted, context) }
    }
}

private let admitted: bp_admitted = { context, status, binding, payload in
    Box<@Sendable (Admission) -> Void>.take(context)(Admission(status, binding, payload))
}

extension Admission {
    fileprivate init(_ status: Int32, _ binding: UnsafeMutablePointer<bp_binding>?, _ payload: bp_bytes) {
        if status == Int32(BP_OK), let binding {
            self = .success(Lease(taken: binding))
        } else {
            self = .failure(EncodedAnswer(status, payload).error)
        }
    }
}
