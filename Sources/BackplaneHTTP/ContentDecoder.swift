#if Engines
import BackplaneExchange
import BackplaneNetwork

/// The decoder of a body with the content codings of its response (RFC 9110, section 8.4.1), the last one first.
struct ContentDecoder {
    private var layers: [Inflater]
    private let ratio: Int
    private var received = 0
    /// The maximum number of layers; more of them are not decoded.
    private static let mostLayers = 5

    /// Creates the decoder of a response; returns `nil` if there is nothing to decode, or a coding is not known.
    ///
    /// - Parameter ratio: The maximum factor by which decoding may expand content.
    init?(_ headers: HTTPHeaders, ratio: Int) {
        let codings = headers.values("Content-Encoding").flatMap { $0.split(separator: ",") }
            .map { $0.trimmingBlanks.lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
        guard (1...Self.mostLayers).contains(codings.count),
            codings.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) })
        else { return nil }
        layers = codings.reversed().map { Inflater(isDeflate: $0 == "deflate", ratio: ratio) }
        self.ratio = ratio
    }

    /// Returns the content that more bytes of the body complete.
    mutating func decode(_ bytes: [UInt8]) throws(HTTPFailure) -> [UInt8] {
        received += bytes.count
        var content = bytes
        for index in layers.indices {
            content = try layers[index].decode(content, upTo: received * ratio)
        }
        return content
    }

    /// Checks that the content is complete; no content at all is complete, too.
    func finish() throws(HTTPFailure) {
        guard layers.allSatisfy(\.isComplete) else { throw Inflater.damaged }
    }
}

/// The decoder of one coding: gzip with any number of members (RFC 1952), or deflate (RFC 1951), usually in the format
/// of zlib (RFC 1950).
///
/// It decodes as far as the bytes go. A step for which they do not suffice begins again with the next ones.
private struct Inflater {
    private enum Format {
        case gzip, zlib, none
    }
    private enum Step {
        /// Before the first member, or after one.
        case start
        case block, storedLength, dynamicCodes
        case stored(Int)
        case symbol
        /// The extra bits of a length, the code of a distance, and its extra bits.
        case length(code: Int)
        case distance(length: Int)
        case distanceBits(length: Int, code: Int)
        case trailer
    }
    /// A Boolean value that indicates whether the content may lack the format of zlib.
    let isDeflate: Bool
    let ratio: Int
    /// The number of all decoded bytes before the current call.
    private var produced = 0
    /// The maximum number of bytes in ``output``.
    private var room = 0
    private var step = Step.start
    private var format = Format.none
    private var members = 0
    private var isLastBlock = false
    private var literals = HuffmanCode.fixedLiterals, distances = HuffmanCode.fixedDistances
    /// The bytes that have not been read, and the position of the next one.
    private var input: [UInt8] = [], position = 0
    /// The bits that were read, the next one lowest, and their number.
    private var hold: UInt64 = 0, bits = 0
    /// The decoded bytes: those to which distances refer, and then those of the current call.
    private var output: [UInt8] = []
    /// The number of bytes of ``output`` that the checksum includes.
    private var summed = 0
    private var memberSize = 0
    private var sum = Checksum()

    static let damaged = HTTPFailure.malformed("its compressed content is damaged")
    private static let windowSize = 32 << 10
    private static let longestHeader = 128 << 10

    init(isDeflate: Bool, ratio: Int) { (self.isDeflate, self.ratio) = (isDeflate, ratio) }

    /// A Boolean value that indicates whether the content ends here.
    var isComplete: Bool { if case .start = step { input.isEmpty } else { false } }

    /// Returns the content that more bytes complete.
    ///
    /// - Parameter limit: The maximum number of all decoded bytes.
    mutating func decode(_ bytes: [UInt8], upTo limit: Int) throws(HTTPFailure) -> [UInt8] {
        input += bytes
        let start = output.count
        room = start + limit - produced
        while try advance() {}
        returnBytes()
        input.removeFirst(position)
        position = 0
        addToSum()
        let decoded = Array(output[start...])
        produced += decoded.count
        if output.count > 2 * Self.windowSize { output.removeFirst(output.count - Self.windowSize) }
        summed = output.count
        return decoded
    }

    /// Performs the next step; returns `false` if it needs more bytes.
    private mutating func advance() throws(HTTPFailure) -> Bool {
        switch step {
        case .start: return try readHeader()
        case .block:
            guard fill(3) else { return false }
            isLastBlock = take(1) == 1
            switch take(2) {
            case 0: step = .storedLength
            case 1:
                (literals, distances) = (.fixedLiterals, .fixedDistances)
                step = .symbol
            case 2: step = .dynamicCodes
            default: throw Self.damaged
            }
        case .storedLength:
            align()
            guard input.count - position >= 4 else { return false }
            let length = number(2, at: position), inverse = number(2, at: position + 2)
            guard length ^ inverse == 0xFFFF else { throw Self.damaged }
            position += 4
            step = .stored(Int(length))
        case .stored(let rest):
            let count = min(rest, input.count - position)
            output += input[position..<(position + count)]
            try checkRoom()
            position += count
            step = .stored(rest - count)
            if count == rest { endBlock() } else { return false }
        case .dynamicCodes:
            let before = (position, hold, bits)
            guard try readCodes() else {
                (position, hold, bits) = before
                return false
            }
            step = .symbol
        case .symbol: return try readSymbols()
        case .length(let code):
            let extra = HuffmanCode.lengthExtras[code]
            guard fill(extra) else { return false }
            step = .distance(length: HuffmanCode.lengthBases[code] + take(extra))
        case .distance(let length):
            guard let code = try symbol(of: distances) else { return false }
            guard code < HuffmanCode.distanceBases.count else { throw Self.damaged }
            step = .distanceBits(length: length, code: code)
        case .distanceBits(let length, let code):
            let extra = HuffmanCode.distanceExtras[code]
            guard fill(extra) else { return false }
            let distance = HuffmanCode.distanceBases[code] + take(extra)
            guard distance <= output.count, distance <= memberSize + output.count - summed else { throw Self.damaged }
            for _ in 0..<length { output.append(output[output.count - distance]) }
            try checkRoom()
            step = .symbol
        case .trailer: return try readTrailer()
        }
        return true
    }

    /// Reads literals up to a length or the end of the block.
    private mutating func readSymbols() throws(HTTPFailure) -> Bool {
        let literals = literals
        while let symbol = try symbol(of: literals) {
            if symbol < 256 {
                output.append(UInt8(symbol))
                try checkRoom()
            } else if symbol == 256 {
                endBlock()
                return true
            } else {
                guard symbol - 257 < HuffmanCode.lengthBases.count else { throw Self.damaged }
                step = .length(code: symbol - 257)
                return true
            }
        }
        return false
    }

    private func checkRoom() throws(HTTPFailure) {
        guard output.count <= room else { throw .inflated(ratio: ratio) }
    }

    private mutating func endBlock() { step = isLastBlock ? .trailer : .block }

    // MARK: The format

    private mutating func readHeader() throws(HTTPFailure) -> Bool {
        // Some servers fill up the last block of a file with zeros.
        if members > 0, format == .gzip { while position < input.count, input[position] == 0 { position += 1 } }
        let count = input.count - position
        guard count > 0 else { return false }
        guard members == 0 || format == .gzip else { throw Self.damaged }
        guard count >= 2 else { return false }
        let first = input[position], second = input[position + 1]
        if first == 0x1F, second == 0x8B {
            guard count >= 10 else { return false }
            let flags = input[position + 3]
            guard input[position + 2] == 8, flags & 0xE0 == 0 else { throw Self.damaged }
            guard let end = endOfHeader(flags) else {
                if count > Self.longestHeader { throw Self.damaged }
                return false
            }
            (position, format) = (end, .gzip)
        } else if members > 0 {
            throw Self.damaged
        } else if first & 0x0F == 8, (Int(first) << 8 | Int(second)) % 31 == 0, second & 0x20 == 0 {
            (position, format) = (position + 2, .zlib)
        } else if isDeflate {
            format = .none
        } else {
            throw Self.damaged
        }
        (sum, memberSize, summed, step) = (Checksum(), 0, output.count, .block)
        return true
    }

    /// Returns the end of a gzip member's header with its optional fields; `nil` if it has not been received.
    private func endOfHeader(_ flags: UInt8) -> Int? {
        var end = position + 10
        if flags & 4 != 0 {
            guard end + 2 <= input.count else { return nil }
            end += 2 + Int(number(2, at: end))
        }
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            guard end < input.count, let zero = input[end...].firstIndex(of: 0) else { return nil }
            end = zero + 1
        }
        if flags & 2 != 0 { end += 2 }
        return end <= input.count ? end : nil
    }

    private mutating func readTrailer() throws(HTTPFailure) -> Bool {
        align()
        addToSum()
        switch format {
        case .gzip:
            guard input.count - position >= 8 else { return false }
            guard number(4, at: position) == sum.crc,
                number(4, at: position + 4) == UInt32(truncatingIfNeeded: memberSize)
            else { throw Self.damaged }
            position += 8
        case .zlib:
            guard input.count - position >= 4 else { return false }
            guard number(4, at: position).byteSwapped == sum.adler else { throw Self.damaged }
            position += 4
        case .none: break
        }
        members += 1
        step = .start
        return true
    }

    /// Includes the bytes decoded since the last time in the checksum.
    private mutating func addToSum() {
        switch format {
        case .gzip: sum.addToCRC(output[summed...])
        case .zlib: sum.addToAdler(output[summed...])
        case .none: break
        }
        memberSize += output.count - summed
        summed = output.count
    }

    /// Returns a number with its lowest byte first.
    private func number(_ count: Int, at index: Int) -> UInt32 {
        input[index..<(index + count)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Bits

    /// Reads bytes until there are enough bits; returns `false` if there are not.
    private mutating func fill(_ count: Int) -> Bool {
        while bits < count {
            guard position < input.count else { return false }
            hold |= UInt64(input[position]) << UInt64(bits)
            position += 1
            bits += 8
        }
        return true
    }

    private mutating func take(_ count: Int) -> Int {
        defer { (hold, bits) = (hold >> UInt64(count), bits - count) }
        return Int(hold & (1 << UInt64(count) - 1))
    }

    /// Drops the bits up to the next byte.
    private mutating func align() {
        returnBytes()
        (hold, bits) = (0, 0)
    }

    /// Returns the whole bytes that were read in advance.
    private mutating func returnBytes() {
        position -= bits / 8
        bits %= 8
        hold &= 1 << UInt64(bits) - 1
    }

    // MARK: Codes

    /// Returns the next symbol; `nil` if its bits have not been received.
    private mutating func symbol(of code: HuffmanCode) throws(HTTPFailure) -> Int? {
        _ = fill(HuffmanCode.longest)
        let entry = code.short[Int(hold & HuffmanCode.shortMask)]
        if entry != 0 {
            guard Int(entry >> 9) <= bits else { return nil }
            _ = take(Int(entry >> 9))
            return Int(entry & 511)
        }
        guard let (symbol, length) = code.longSymbol(hold, bits) else {
            if bits < HuffmanCode.longest { return nil }
            throw Self.damaged
        }
        _ = take(length)
        return symbol
    }

    /// Reads the codes of a dynamic block; returns `false` if it needs more bytes.
    private mutating func readCodes() throws(HTTPFailure) -> Bool {
        guard fill(14) else { return false }
        let literalCount = take(5) + 257, distanceCount = take(5) + 1, lengthCount = take(4) + 4
        var lengths = [UInt8](repeating: 0, count: 19)
        for index in HuffmanCode.lengthOrder.prefix(lengthCount) {
            guard fill(3) else { return false }
            lengths[index] = UInt8(take(3))
        }
        guard let code = HuffmanCode(lengths) else { throw Self.damaged }
        lengths = []
        while lengths.count < literalCount + distanceCount {
            guard let symbol = try symbol(of: code) else { return false }
            guard symbol >= 16 else {
                lengths.append(UInt8(symbol))
                continue
            }
            let (extra, base) = symbol == 16 ? (2, 3) : symbol == 17 ? (3, 3) : (7, 11)
            guard fill(extra) else { return false }
            guard symbol != 16 || !lengths.isEmpty else { throw Self.damaged }
            lengths += repeatElement(symbol == 16 ? lengths[lengths.count - 1] : 0, count: base + take(extra))
        }
        guard lengths.count == literalCount + distanceCount, lengths[256] > 0,
            let literals = HuffmanCode(Array(lengths.prefix(literalCount))),
            let distances = HuffmanCode(Array(lengths.suffix(distanceCount)))
        else { throw Self.damaged }
        (self.literals, self.distances) = (literals, distances)
        return true
    }
}

/// A canonical prefix code (RFC 1951, section 3.2.2).
private final class HuffmanCode: Sendable {
    static let longest = 15
    static let shortMask: UInt64 = 511
    /// The symbols of codes of up to nine bits by the next nine bits, each with its length above; 0 for longer codes.
    let short: [UInt16]
    /// The number of codes of each length.
    private let counts: [Int]
    /// The symbols in the order of their codes.
    private let symbols: [UInt16]

    /// Creates the code from the lengths of its symbols; returns `nil` if there are more codes than fit.
    init?(_ lengths: [UInt8]) {
        var counts = [Int](repeating: 0, count: Self.longest + 1)
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        var room = 1
        for count in counts.dropFirst() {
            room = room << 1 - count
            guard room >= 0 else { return nil }
        }
        var short = [UInt16](repeating: 0, count: 512), symbols: [UInt16] = [], code = 0
        for length in 1...Self.longest {
            code <<= 1
            for (symbol, own) in lengths.enumerated() where Int(own) == length {
                symbols.append(UInt16(symbol))
                if length <= 9 {
                    // The bits of a code come highest first.
                    let bits = (0..<length).reduce(0) { $0 | (code >> $1 & 1) << (length - 1 - $1) }
                    for index in stride(from: bits, to: 512, by: 1 << length) {
                        short[index] = UInt16(length) << 9 | UInt16(symbol)
                    }
                }
                code += 1
            }
        }
        (self.short, self.counts, self.symbols) = (short, counts, symbols)
    }

    /// Returns the symbol at the beginning of some bits, and the length of its code; `nil` if there is none.
    func longSymbol(_ hold: UInt64, _ bits: Int) -> (symbol: Int, length: Int)? {
        var code = 0, first = 0, index = 0
        for length in 1...Self.longest where length <= bits {
            code |= Int(hold >> UInt64(length - 1) & 1)
            let count = counts[length]
            if code - first < count { return (Int(symbols[index + code - first]), length) }
            index += count
            (first, code) = ((first + count) << 1, code << 1)
        }
        return nil
    }

    static let fixedLiterals = HuffmanCode(
        (0..<288).map { (symbol: Int) -> UInt8 in symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8 })!
    static let fixedDistances = HuffmanCode([UInt8](repeating: 5, count: 30))!

    /// The order in which a dynamic block has the lengths of its code of lengths.
    static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    static let lengthExtras = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
    static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537, 2_049, 3_073,
        4_097,
        6_145, 8_193, 12_289, 16_385, 24_577,
    ]
    static let distanceExtras = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
}

/// The checksums of gzip (CRC-32) and of zlib (Adler-32).
private struct Checksum {
    private var register: UInt32 = 0xFFFF_FFFF
    private var low: UInt32 = 1, high: UInt32 = 0

    var crc: UInt32 { ~register }
    var adler: UInt32 { high << 16 | low }

    mutating func addToCRC(_ bytes: ArraySlice<UInt8>) {
        var register = register
        for byte in bytes { register = Self.table[Int((register ^ UInt32(byte)) & 0xFF)] ^ register >> 8 }
        self.register = register
    }

    mutating func addToAdler(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
    }

    private static let table: [UInt32] = (0..<256).map { number in
        (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }
}
#endif
