package import Backplane
import CBackplane

/// The host's handle for a stream that a component has opened natively, used to end the stream.
///
/// `@unchecked`: the pointer is the provider's own and is only passed back.
package final class NativeStream: @unchecked Sendable {
    private let stream: UnsafeMutableRawPointer
    private let endStream: bp_end_stream
    private let countElements: bp_count_elements
    private let releaseStream: bp_release_stream

    init(
        _ stream: UnsafeMutableRawPointer, end: @escaping bp_end_stream, count: @escaping bp_count_elements,
        release: @escaping bp_release_stream
    ) {
        (self.stream, endStream, countElements, releaseStream) = (stream, end, count, release)
    }

    deinit { releaseStream(stream) }

    /// The number of elements that the consumer has taken.
    package var elements: Int { Int(clamping: countElements(stream)) }

    /// Ends the stream with an error, and cancels its body, which may react on this thread.
    package func end(_ error: BackplaneError) {
        let answer = EncodedAnswer(error)
        answer.payload.withBytes { endStream(stream, answer.status, $0) }
    }
}
