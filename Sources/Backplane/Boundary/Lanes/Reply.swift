package import CBackplane

/// The destination of an encoded call's answer: a callback and its context, called exactly once.
@usableFromInline
package struct Reply: Sendable {
    private let done: bp_done
    /// The caller's own context, which is passed back unchanged.
    private let context: ForeignPointer

    package init(_ done: @escaping bp_done, _ context: UnsafeMutableRawPointer?) {
        (self.done, self.context) = (done, ForeignPointer(raw: context))
    }

    /// Creates a reply that calls a closure, which borrows the payload.
    package init(_ body: @escaping @Sendable (Int32, bp_bytes) -> Void) {
        self.init(
            { context, status, payload in
                Box<@Sendable (Int32, bp_bytes) -> Void>.take(context)(status, payload)
            }, Box(body).toContext())
    }

    /// Ends the call with a borrowed payload.
    package func end(_ status: Int32, _ payload: bp_bytes) {
        done(context.raw, status, payload)
    }

    package func end(_ answer: EncodedAnswer) {
        answer.payload.withBytes { done(context.raw, answer.status, $0) }
    }

    package func end(_ error: BackplaneError) {
        end(EncodedAnswer(error))
    }
}
