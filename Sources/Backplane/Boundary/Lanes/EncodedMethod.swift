import CBackplane

/// One method of an encoded wire: what its cell has for context.
struct EncodedMethod: Sendable {
    let name: String
    let target: EncodedTarget
    private let number: UInt32?

    init(name: String, kind: MethodDescription.Kind, target: EncodedTarget) {
        (self.name, self.target) = (name, target)
        number = target.number(of: name)
    }

    private func providersNumber() throws(BackplaneError) -> UInt32 {
        guard let number else { throw BackplaneError(.callUnimplemented, "the component called has no method `\(name)`") }
        return number
    }

    nonisolated(nonsending) func call(_ input: [UInt8], _ call: Call) async throws(BackplaneError) -> [UInt8] {
        let number = try providersNumber()
        let cancellation = Cancellation { [target] in target.provider.pointee.cancel(target.provider.pointee.target, $0) }
        let answer = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let id = start(number, input, call) { continuation.resume(returning: $0) }
                cancellation.began(id)
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try answer.get()
    }

    func callNow(_ input: [UInt8], _ call: Call) throws(BackplaneError) -> [UInt8] {
        let answer = Received<EncodedAnswer>()
        _ = start(try providersNumber(), input, call) { answer.set($0) }
        guard let answer = answer.value else {
            throw BackplaneError(.componentFailed, "`\(name)` is a synchronous method and did not answer at once")
        }
        return try answer.get()
    }

    private func start(_ number: UInt32, _ input: [UInt8], _ call: Call, _ done: @escaping @Sendable (EncodedAnswer) -> Void) -> UInt64 {
        let context = Box(done).toContext()
        return call.withC { frame in
            input.withBytes { input in
                target.provider.pointee.call(target.provider.pointee.target, number, input, frame, { context, status, payload in
                    Box<@Sendable (EncodedAnswer) -> Void>.take(context)(EncodedAnswer(status, payload))
                }, context)
            }
        }
    }
}
