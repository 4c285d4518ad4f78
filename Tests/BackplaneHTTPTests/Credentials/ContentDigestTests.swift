import BackplaneExchange
import Testing

/// SHA-256 and MD5, by their published vectors.
struct ContentDigestTests {
    private static let longText = """
        abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst\
        nopqrstu
        """

    private func text(_ algorithm: ContentDigest.Algorithm, _ bytes: [UInt8]) -> String {
        ContentDigest.digest(of: bytes, by: algorithm).hexadecimal
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (longText, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func `SHA-256 has the values that NIST gives for FIPS 180-4`(content: String, expected: String) {
        #expect(text(.sha256, Array(content.utf8)) == expected, "\(content.utf8.count) bytes")
    }

    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func `MD5 has the values of RFC 1321`(content: String, expected: String) {
        #expect(text(.md5, Array(content.utf8)) == expected)
    }

    // Of the bytes 0, 1, 2 and so on, computed with sha256sum and md5sum: the lengths at which a block is full, or at
    // which the number of bits no longer fits into it.
    @Test(arguments: [
        (
            55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59",
            "6912ee65fff2d9f9ce2508cddf8bcda0"
        ),
        (
            56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562",
            "51fdd1acda72405dfdfa03fcb85896d7"
        ),
        (
            64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108",
            "b2d3f56bc197fd985d5965079b5e7148"
        ),
        (
            120, "f52b23db1fbb6ded89ef42a23ce0c8922c45f25c50b568a93bf1c075420bbb7c",
            "b7ba1efc6022e9ed272f00b8831e26e6"
        ),
    ])
    func `content that ends near a block's end is padded rightly`(count: Int, sha256: String, md5: String) {
        let bytes = (0..<count).map { UInt8($0) }
        #expect(text(.sha256, bytes) == sha256 && text(.md5, bytes) == md5)
    }

    @Test(arguments: ContentDigest.Algorithm.allCases)
    func `content in pieces has the digest of the whole`(algorithm: ContentDigest.Algorithm) {
        let bytes = [UInt8].pattern(count: 300)
        for size in [1, 7, 55, 63, 64, 65, 128, 300] {
            var digest = ContentDigest(algorithm)
            for start in stride(from: 0, to: bytes.count, by: size) {
                digest.update(Array(bytes[start..<min(start + size, bytes.count)]))
                digest.update([])
            }
            #expect(digest.finalize() == ContentDigest.digest(of: bytes, by: algorithm), "pieces of \(size)")
        }
    }
}
