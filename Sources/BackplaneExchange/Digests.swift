/// A digest of bytes that arrive in pieces: SHA-256 (FIPS 180-4) or MD5 (RFC 1321).
///
/// SHA-256 checks libraries and downloads, and names the files of stored tokens. MD5 serves only the servers whose
/// Digest authentication (RFC 7616) offers nothing better.
package struct ContentDigest: Sendable {
    /// The function that computes a digest, with its name in Digest authentication; the strongest is the first.
    package enum Algorithm: String, Sendable, CaseIterable {
        case sha256 = "SHA-256"
        case md5 = "MD5"
    }
    private static let blockSize = 64

    private let algorithm: Algorithm
    /// The state between two blocks: eight words, or four of MD5.
    private var state: SIMD8<UInt32>
    private var rest: [UInt8] = []
    private var count = 0

    package init(_ algorithm: Algorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .sha256: state = SHA256.start
        case .md5: state = MD5.start
        }
    }

    package static func sha256(of bytes: [UInt8]) -> [UInt8] { digest(of: bytes, by: .sha256) }

    package static func digest(of bytes: [UInt8], by algorithm: Algorithm) -> [UInt8] {
        var digest = ContentDigest(algorithm)
        digest.update(bytes)
        return digest.finalize()
    }

    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count += bytes.count
        var bytes = bytes
        if !rest.isEmpty {
            let missing = min(Self.blockSize - rest.count, bytes.count)
            rest += bytes[..<missing]
            guard rest.count == Self.blockSize else { return }
            bytes = UnsafeRawBufferPointer(rebasing: bytes[missing...])
            let block = rest
            block.withUnsafeBytes { compress($0) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count - bytes.count % Self.blockSize
        compress(UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
        rest += bytes[whole...]
    }

    /// Returns the digest: 32 bytes of SHA-256, 16 of MD5.
    package consuming func finalize() -> [UInt8] {
        let bits = UInt64(count) &* 8
        // A one bit, zeros, and the number of bits in eight bytes, which end a block.
        var padding: [UInt8] = [0x80]
        padding += [UInt8](repeating: 0, count: (119 - count % Self.blockSize) % Self.blockSize)
        switch algorithm {
        case .sha256: withUnsafeBytes(of: bits.bigEndian) { padding += $0 }
        case .md5: withUnsafeBytes(of: bits.littleEndian) { padding += $0 }
        }
        update(padding)
        var bytes: [UInt8] = []
        for word in 0..<(algorithm == .sha256 ? 8 : 4) {
            withUnsafeBytes(of: algorithm == .sha256 ? state[word].bigEndian : state[word].littleEndian) { bytes += $0 }
        }
        return bytes
    }

    private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
        switch algorithm {
        case .sha256: SHA256.compress(blocks, into: &state)
        case .md5: MD5.compress(blocks, into: &state)
        }
    }
}

extension [UInt8] {
    package var hexadecimal: String {
        let digits = [UInt8]("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

// The loops below avoid ranges and shifts by any count, which are slow in a build without optimisation.

private enum SHA256 {
    static let start = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)

    /// The constants of the rounds (FIPS 180-4, section 4.2.2).
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    static func compress(_ blocks: UnsafeRawBufferPointer, into state: inout SIMD8<UInt32>) {
        constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
                var block = 0
                while block < blocks.count {
                    expand(blocks, from: block, into: words)
                    state &+= rounds(state, words, constants)
                    block &+= 64
                }
            }
        }
    }

    /// Fills the schedule with the words of the block and the words derived from them.
    private static func expand(
        _ blocks: UnsafeRawBufferPointer, from block: Int, into words: UnsafeMutableBufferPointer<UInt32>
    ) {
        var t = 0
        while t < 16 {
            words[t] = UInt32(bigEndian: blocks.loadUnaligned(fromByteOffset: block &+ t &* 4, as: UInt32.self))
            t &+= 1
        }
        while t < 64 {
            let x = words[t &- 15], y = words[t &- 2]
            let low = (x &>> 7 | x &<< 25) ^ (x &>> 18 | x &<< 14) ^ x &>> 3
            let high = (y &>> 17 | y &<< 15) ^ (y &>> 19 | y &<< 13) ^ y &>> 10
            words[t] = words[t &- 16] &+ low &+ words[t &- 7] &+ high
            t &+= 1
        }
    }

    private static func rounds(
        _ state: SIMD8<UInt32>, _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
    ) -> SIMD8<UInt32> {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var t = 0
        while t < 64 {
            // Eight rounds, after which each variable has its place again.
            round(a, b, c, &d, e, f, g, &h, words[t] &+ constants[t])
            round(h, a, b, &c, d, e, f, &g, words[t &+ 1] &+ constants[t &+ 1])
            round(g, h, a, &b, c, d, e, &f, words[t &+ 2] &+ constants[t &+ 2])
            round(f, g, h, &a, b, c, d, &e, words[t &+ 3] &+ constants[t &+ 3])
            round(e, f, g, &h, a, b, c, &d, words[t &+ 4] &+ constants[t &+ 4])
            round(d, e, f, &g, h, a, b, &c, words[t &+ 5] &+ constants[t &+ 5])
            round(c, d, e, &f, g, h, a, &b, words[t &+ 6] &+ constants[t &+ 6])
            round(b, c, d, &e, f, g, h, &a, words[t &+ 7] &+ constants[t &+ 7])
            t &+= 8
        }
        return SIMD8(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, _ word: UInt32
    ) {
        let sumE = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
        let sumA = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
        let first = h &+ sumE &+ ((e & f) ^ (~e & g)) &+ word
        d = d &+ first
        h = first &+ sumA &+ ((a & b) ^ (a & c) ^ (b & c))
    }
}

private enum MD5 {
    static let start = SIMD8<UInt32>(0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0, 0, 0, 0)

    /// The left rotations of the four rounds, whose steps take them in turn (RFC 1321, section 3.4).
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// The integer parts of 2³² × |sin(i)|, for i from 1 to 64.
    private static let constants: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]

    static func compress(_ blocks: UnsafeRawBufferPointer, into state: inout SIMD8<UInt32>) {
        var block = 0
        while block < blocks.count {
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var step = 0
            while step < 64 {
                let mixed: UInt32, word: Int
                switch step &>> 4 {
                case 0: (mixed, word) = ((b & c) | (~b & d), step)
                case 1: (mixed, word) = ((d & b) | (~d & c), 5 &* step &+ 1)
                case 2: (mixed, word) = (b ^ c ^ d, 3 &* step &+ 5)
                default: (mixed, word) = (c ^ (b | ~d), 7 &* step)
                }
                let place = block &+ (word & 15) &* 4, shift = shifts[step &>> 4 &* 4 &+ step & 3]
                let bits = UInt32(littleEndian: blocks.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                let sum = a &+ mixed &+ constants[step] &+ bits
                (a, d, c) = (d, c, b)
                b = b &+ (sum &<< shift | sum &>> (32 &- shift))
                step &+= 1
            }
            state &+= SIMD8(a, b, c, d, 0, 0, 0, 0)
            block &+= 64
        }
    }
}
