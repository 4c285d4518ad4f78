import CBackplane
import FoundationEssentials

/// A method of an encoded wire, the context of its cell.
struct EncodedMethod: Sendable {
    let name: String
    let target: EncodedTarget
    private let number: UInt32?

    init(name: String, target: EncodedTarget) {
        (self.name, self.target) = (name, target)
        number = target.number(of: name)
    }

    func providersNumber() throws(BackplaneError) -> UInt32 {
        guard let number else {
            throw BackplaneError(.callUnimplemented, "the called component has no method `\(name)`")
        }
        return number
    }

    nonisolated(nonsending) func call(_ input: Data, _ call: Call) async throws(BackplaneError) -> [UInt8] {
        let answer = PendingAnswer(), id = start(try providersNumber(), input, call, answer)
        return try await answer.wait { target.provider.pointee.cancel(target.provider.pointee.target, id) }.get()
    }

    func callNow(_ input: Data, _ call: Call) throws(BackplaneError) -> [UInt8] {
        let answer = PendingAnswer()
        _ = start(try providersNumber(), input, call, answer)
        guard let answer = answer.now else {
            throw BackplaneError(
                .componentFailed, "`\(name)` is a synchronous method but did not answer before returning")
        }
        return try answer.get()
    }

    private func start(_ number: UInt32, _ input: Data, _ call: Call, _ answer: PendingAnswer) -> UInt64 {
        call.withC { frame in
            input.withBytes { input in
                target.provider.pointee.call(
                    target.provider.pointee.target, number, input, frame, PendingAnswer.done, answer.toContext())
            }
        }
    }
}
