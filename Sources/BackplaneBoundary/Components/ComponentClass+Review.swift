package import Backplane
import CBackplane
import Synchronization

extension ComponentClass {
    /// Returns the keys of a configuration that the class does not declare, or the error that an instance would throw
    /// for it.
    ///
    /// The keys are JSON pointers. For a plugin without a function for reviews, there are none.
    package func review(_ configuration: [UInt8]) -> Result<[String], BackplaneError> {
        guard let review = functions.component.review else { return .success([]) }
        let received = Received<EncodedAnswer>()
        let id = Callbacks.expect(answered: { _, _ in }) { _, ended in received.set(ended.answer) }
        configuration.withBytes { review(functions.component.type, $0, Callbacks.done, Callbacks.context(id)) }
        let words = "\(description.className) was asked to review a configuration, but did not answer before returning"
        Callbacks.end(id, EncodedAnswer(BackplaneError(.pluginInvalidAnswer, words)))
        return Result { () throws(BackplaneError) in
            // Without a value the answer comes at this moment, from another thread.
            guard let answer = received.value else { throw BackplaneError(.pluginInvalidAnswer, words) }
            return try JSON.decode([String].self, answer.get(), failing: .pluginInvalidAnswer)
        }
    }
}
