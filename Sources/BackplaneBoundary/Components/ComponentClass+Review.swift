package import Backplane
import CBackplane
import Synchronization

extension ComponentClass {
    /// The keys of a configuration, as JSON pointers, that the class does not know, or what an instance would find wrong with it.
    ///
    /// A plugin that has no function for that finds nothing here.
    package func review(_ configuration: [UInt8]) -> Result<[String], BackplaneError> {
        guard let review = functions.component.review else { return .success([]) }
        let received = Received<EncodedAnswer>()
        let id = Callbacks.expect(answered: { _, _ in }) { _, ended in received.set(ended.answer) }
        configuration.withBytes { review(functions.component.type, $0, Callbacks.done, Callbacks.context(id)) }
        let words = "\(description.className) was asked about a configuration and did not answer at once"
        Callbacks.end(id, EncodedAnswer(BackplaneError(.pluginInvalidAnswer, words)))
        return Result { () throws(BackplaneError) in
            guard let answer = received.value else { throw BackplaneError(.pluginInvalidAnswer, words) }      // it comes just now, from another thread
            return try JSON.decode([String].self, answer.get(), failing: .pluginInvalidAnswer)
        }
    }
}
