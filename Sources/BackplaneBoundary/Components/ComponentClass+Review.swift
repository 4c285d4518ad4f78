package import Backplane
import CBackplane
import Synchronization

extension ComponentClass {
    /// Returns the keys of a configuration that the class does not know, or the error that an instance would throw for
    /// it.
    ///
    /// The keys are JSON pointers. For a plugin without a function for reviews, there are none.
    package func review(_ configuration: [UInt8]) -> Result<[String], BackplaneError> {
        guard let review = functions.component.review else { return .success([]) }
        return answer(doing: "review a configuration") { id in
            configuration.withBytes { review(functions.component.type, $0, Callbacks.done, Callbacks.context(id)) }
        }
    }

    /// Returns the shapes of the methods' JSON, in their order; `nil` for a plugin that does not describe them.
    ///
    /// - Throws: `plugin.invalid-answer` for another number of shapes than of methods, and what the plugin answers with.
    package func methodShapes() throws(BackplaneError) -> [MethodShape]? {
        guard let describe = functions.component.describe else { return nil }
        let shapes: [MethodShape] = try answer(doing: "describe its methods") { id in
            describe(functions.component.type, Callbacks.done, Callbacks.context(id))
        }.get()
        let count = description.contract?.methods.count ?? 0
        guard shapes.count == count else {
            throw BackplaneError(
                .pluginInvalidAnswer,
                "\(description.className) was asked to describe its \(count) methods, and described \(shapes.count)")
        }
        return shapes
    }

    /// Calls a function of the class that answers before it returns.
    private func answer<Value: Decodable>(doing what: String, _ call: (UInt64) -> Void) -> Result<Value, BackplaneError> {
        let received = Received<EncodedAnswer>()
        let id = Callbacks.expect(answered: { _, _ in }) { _, ended in received.set(ended.answer) }
        call(id)
        let words = "\(description.className) was asked to \(what), but did not answer at once"
        Callbacks.end(id, EncodedAnswer(BackplaneError(.pluginInvalidAnswer, words)))
        return Result { () throws(BackplaneError) in
            // Without a value the answer comes at this moment, from another thread.
            guard let answer = received.value else { throw BackplaneError(.pluginInvalidAnswer, words) }
            return try JSON.decode(Value.self, answer.get(), failing: .pluginInvalidAnswer)
        }
    }
}
