import Backplane
import BackplaneExchange
import BackplaneNetwork
import CBackplane

/// The functions of `backplane.http/2` that sign accounts in and out.
enum AccountFunctions {
    /// The maximum number of values in a sign-in; additional ones are omitted and refused as missing.
    static let mostValues = 100

    /// Signs in an account, and returns the number with which the sign-in can be cancelled.
    static func signIn(
        _ handle: UInt64, _ credential: String, _ account: String, _ values: [(name: String, value: String)],
        _ call: Call, _ reply: Reply
    ) -> UInt64 {
        do throws(BackplaneError) {
            let component = try component(handle), pipeline = try component.exchanges.pipeline(for: credential)
            let values = Dictionary(values.map { ($0.name, $0.value) }) { first, _ in first }
            try component.begin(isWait: true)
            return component.serviceOperations.start(call, isWait: true) { () throws(BackplaneError) in
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

    /// Signs out an account.
    static func signOut(_ handle: UInt64, _ credential: String, _ account: String, _ reply: Reply) {
        do throws(BackplaneError) {
            let pipeline = try component(handle).exchanges.pipeline(for: credential)
            try pipeline.signOut(credential, account: account)
            reply.end(EncodedAnswer([]))
        } catch {
            reply.end(error)
        }
    }

    private static func component(_ handle: UInt64) throws(BackplaneError) -> OfferedServices {
        let component = try ComponentHandles.require(handle)
        try component.require(.communicationController, .networkService, for: BP_HTTP)
        return component
    }
}
