import NIOCore
import NIOEmbedded
import NIOHTTP2
import Testing

@testable import BackplaneHTTP

/// The buffers of HTTP/2 frames, which wait for slow readers.
@Suite(.timeLimit(.minutes(1)))
struct CompactFramesTests {
    /// Returns the content of a frame after it has passed the handler.
    private func passed(_ buffer: ByteBuffer) throws -> ByteBuffer {
        let channel = EmbeddedChannel(handler: CompactFrames())
        let payload = HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(buffer), endStream: true))
        try channel.writeInbound(HTTP2Frame(streamID: 1, payload: payload))
        let read = try channel.readInbound(as: HTTP2Frame.self), frame = try #require(read)
        guard case .data(let content) = frame.payload, case .byteBuffer(let buffer) = content.data else {
            throw Unexpected()
        }
        #expect(content.endStream && frame.streamID == 1)
        _ = try channel.finish()
        return buffer
    }

    private struct Unexpected: Error {}

    @Test func `a slice of a large buffer does not keep the rest`() throws {
        let received = ByteBuffer(repeating: 7, count: 1 << 20)
        let slice = try #require(received.getSlice(at: 0, length: 16_384))
        #expect(slice.storageCapacity >= 1 << 20)
        let buffer = try passed(slice)
        #expect(buffer == slice && buffer.storageCapacity <= 32_768)
    }

    @Test func `a buffer that holds nothing else is not copied`() throws {
        let whole = ByteBuffer(repeating: 7, count: 16_384)
        let buffer = try passed(whole)
        let before = whole.withUnsafeReadableBytes { $0.baseAddress },
            after = buffer.withUnsafeReadableBytes { $0.baseAddress }
        #expect(before == after && buffer.readableBytes == 16_384)
    }
}
