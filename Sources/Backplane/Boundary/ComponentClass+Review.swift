import CBackplane
import Synchronization

extension ComponentClass {
    /// The keys of a configuration, as JSON pointers, that the class does not know, or what an instance would find wrong with it.
    ///
    /// A plugin that has no function for that finds nothing here.
    package func review(_ configuration: [UInt8]) -> Result<[String], BackplaneError> {
        guard let review = functions.component.review else { return .success([]) }
        let answer = Received<EncodedAnswer>()
        configuration.withBytes { bytes in
            let reply = Box<@Sendable (Int32, bp_bytes) -> Void> { answer.set(EncodedAnswer($0, $1)) }.toContext()
            review(functions.component.type, bytes, { context, status, payload in
                Box<@Sendable (Int32, bp_bytes) -> Void>.take(context)(status, payload)
            }, reply)
        }
        guard let answer = answer.value else {
            let words = "\(description.className) was asked about a configuration and did not answer at once"
            return .failure(BackplaneError(.pluginInvalidAnswer, words))
        }
        return Result { () throws(BackplaneError) in try JSON.decode([String].self, answer.get(), failing: .pluginInvalidAnswer) }
    }
}
