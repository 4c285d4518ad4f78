#if Engines
import BackplaneExchange
import BackplaneNetwork
import CZlib

/// The decoder of a body with the content codings of its response (RFC 9110, section 8.4.1), the last one first.
struct ContentDecoder {
    private var layers: [Inflater]
    private let ratio: Int
    private var received = 0
    private static let mostLayers = 5

    /// Creates the decoder of a response; returns `nil` if there is nothing to decode, or a coding is not known.
    init?(_ headers: HTTPHeaders, ratio: Int) {
        let codings = headers.values("Content-Encoding").flatMap { $0.split(separator: ",") }
            .map { $0.trimmingBlanks.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
        guard (1...Self.mostLayers).contains(codings.count),
            codings.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) })
        else { return nil }
        layers = codings.reversed().map { Inflater(isDeflate: $0 == "deflate", ratio: ratio) }
        self.ratio = ratio
    }

    mutating func decode(_ bytes: [UInt8]) throws(HTTPFailure) -> [UInt8] {
        received += bytes.count
        let (limit, isUnlimited) = received.multipliedReportingOverflow(by: ratio)
        var content = bytes
        for index in layers.indices {
            content = try layers[index].decode(content, upTo: isUnlimited ? .max : limit)
        }
        return content
    }

    /// Checks that the content is complete; empty content is complete, too.
    func finish() throws(HTTPFailure) {
        guard layers.allSatisfy(\.isComplete) else { throw Inflater.damaged }
    }
}

/// The decoder of one coding of zlib: gzip with any number of members (RFC 1952), or deflate (RFC 1951), usually in the
/// format of zlib (RFC 1950).
private final class Inflater: @unchecked Sendable {  // only the reader of the body uses it
    static let damaged = HTTPFailure.malformed("its compressed content is damaged")
    private static let pieceSize = 64 << 10

    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    /// Whether the content may lack the format of zlib.
    private let isDeflate: Bool
    private let ratio: Int
    private var members = 0, isInMember = false, isGzip = false
    /// The first byte of a member, until the second byte determines the format.
    private var begun: [UInt8] = []
    private var produced = 0

    init(isDeflate: Bool, ratio: Int) {
        (self.isDeflate, self.ratio) = (isDeflate, ratio)
        stream.initialize(to: z_stream())
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    var isComplete: Bool { !isInMember && begun.isEmpty }

    func decode(_ bytes: [UInt8], upTo limit: Int) throws(HTTPFailure) -> [UInt8] {
        var input = begun + bytes, position = 0, output: [UInt8] = []
        begun = []
        while position < input.count {
            if !isInMember {
                // Some servers fill up the last block of a file with zeros.
                if members > 0, isGzip, input[position] == 0 {
                    position += 1
                    continue
                }
                guard position + 1 < input.count else {
                    begun = [input[position]]
                    break
                }
                try begin(input[position], input[position + 1])
            }
            try inflate(&input, &position, into: &output, upTo: limit - produced)
        }
        produced += output.count
        return output
    }

    /// Begins a member; its first bytes determine the format.
    private func begin(_ first: UInt8, _ second: UInt8) throws(HTTPFailure) {
        let isZlib = first & 0x0F == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
        isGzip = first == 0x1F && second == 0x8B
        guard isGzip || members == 0 && (isZlib || isDeflate) else { throw Self.damaged }
        let bits = MAX_WBITS, format = isGzip ? bits + 16 : isZlib ? bits : -bits
        let status =
            members == 0
            ? inflateInit2_(stream, format, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
            : inflateReset2(stream, format)
        guard status == Z_OK else { throw .malformed("zlib cannot decode its content: error \(status)") }
        isInMember = true
    }

    /// Decodes up to the end of the member or of the input.
    private func inflate(
        _ input: inout [UInt8], _ position: inout Int, into output: inout [UInt8], upTo limit: Int
    ) throws(HTTPFailure) {
        var status = Z_OK, isFull = true
        while status == Z_OK, isFull || position < input.count {
            let piece = input.withUnsafeMutableBufferPointer { input in
                [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { piece, count in
                    stream.pointee.next_in = input.baseAddress.map { $0 + position }
                    stream.pointee.avail_in = UInt32(clamping: input.count - position)
                    stream.pointee.next_out = piece.baseAddress
                    stream.pointee.avail_out = UInt32(piece.count)
                    let available = stream.pointee.avail_in
                    status = CZlib.inflate(stream, Z_NO_FLUSH)
                    position += Int(available - stream.pointee.avail_in)
                    count = piece.count - Int(stream.pointee.avail_out)
                }
            }
            isFull = piece.count == Self.pieceSize
            output += piece
            guard output.count <= limit else { throw .inflated(ratio: ratio) }
        }
        switch status {
        case Z_OK, Z_BUF_ERROR: break  // more input is needed
        case Z_STREAM_END: (members, isInMember) = (members + 1, false)
        default: throw Self.damaged
        }
    }
}
#endif
