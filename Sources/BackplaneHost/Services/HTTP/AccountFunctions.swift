import Backplane
import BackplaneExchange
import BackplaneNetwork
import CBackplane

/// The function of `backplane.http/2` that signs an account in.
let signIn:
    @convention(c) (
        UInt64, bp_bytes, bp_bytes, UnsafePointer<bp_pair>?, Int, UnsafePointer<bp_call>, bp_done,
        UnsafeMutableRawPointer?
    ) -> UInt64 = { handle, credential, account, values, count, call, done, context in
        let reply = Reply(done, context)
        do throws(BackplaneError) {
            let component = try networkComponent(handle),
                pipeline = try component.exchanges.pipeline(for: credential.text)
            guard count <= mostValues else {
                throw BackplaneError(
                    .networkCredential, "a sign-in has \(count) values; expected at most \(mostValues)")
            }
            let values = Dictionary(Pairs.copy(values, count: count).map { ($0.name, $0.value) }) { first, _ in first }
            let (credential, account) = (credential.text, account.text)
            try component.begin(isWait: true)
            return component.serviceOperations.start(Call(copying: call), isWait: true) { () throws(BackplaneError) in
                try await pipeline.signIn(credential, as: account, with: values)
            } _: { result in
                reply.end(result.map { EncodedAnswer(Array("\($0)".utf8)) })
                component.end(isWait: true)
            }
        } catch {
            reply.end(error)
            return 0
        }
    }

/// The function of `backplane.http/2` that signs an account out.
let signOut: @convention(c) (UInt64, bp_bytes, bp_bytes, bp_done, UnsafeMutableRawPointer?) -> Void = {
    handle, credential, account, done, context in
    let reply = Reply(done, context)
    do throws(BackplaneError) {
        let pipeline = try networkComponent(handle).exchanges.pipeline(for: credential.text)
        try pipeline.signOut(credential.text, account: account.text)
        reply.end(EncodedAnswer([]))
    } catch {
        reply.end(error)
    }
}

/// The greatest number of values of a sign-in.
private let mostValues = 100

private func networkComponent(_ handle: UInt64) throws(BackplaneError) -> OfferedServices {
    let component = try ComponentHandles.require(handle)
    try component.require(.communicationController, .networkService, for: BP_HTTP)
    return component
}
