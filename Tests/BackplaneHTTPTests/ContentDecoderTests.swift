import BackplaneExchange
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneHTTP

/// The decoder of compressed content, beyond what the conformance suite sends.
struct ContentDecoderTests {
    /// Numbers, a gap, and the numbers again.
    private static let text: [UInt8] = {
        let numbers = (0..<400).map { "\($0 * 7_919 % 1_000)" }.joined(separator: " ")
        return Array((numbers + String(repeating: "x", count: 30_000) + numbers).utf8)
    }()

    /// The text compressed with gzip: a block with its own codes, and a reference over 30,000 bytes.
    private static let compressed = Array(
        Data(
            base64Encoded: """
                H4sIAAAAAAACA+3du2HDMAxF0VUwgvAnN8v4udzB5btVClkBfES3+uz6tZPHttdmx/q2tZdVpmWHxbr5/cy/a3Hs1tqZsT1t+5VNpHWF\
                1bjl+Swul/kxz7Ueu9t2btnxtM2wabfez+pcq+9YxlrUmA/XlaXdCP5w2/kY5zLOYZxlnGGcZpxinDT3sHS7/THOZRw2+Ngg2KCacbjZ\
                YYOPDYIN6uNWjHMYhw2cDbIZpxgnrS4bOBskG9RlHK7jbozz5irGSZvD/B/zB/PnZZzDOMs4zO9tWYyTfC5sLxs4GwQb1GGcZRw2+Ngg\
                2KC4Xdg9bPCxAQaLwWDQGBQGhUFiEBj4vuuM+RE4CCwCg8Ag0AgUAolAIOAIOAIAXAQOAovAIjAINAKFQCKQCAQCjgAAF4H7sQEGi8Fg\
                0BgUBoVBYhAYOAaPgAUgOBAsBAPBQNAQFAQJQUAQEDgECFwIDgQLwUIwEDQEBUHeB8oKEHi92zEPK3ysAMKCMCA0CA1CgZAgBAgOwjNg\
                AwwOBovBYDAYNAaFQWIQGAQGHu8B50M8bBgcDBaDwaAxKAwSg8QgMHAMHsEz4BgcFBaFQaFRaBQKhUQhUHAUHgIbgHBAWBAGhAGhQSgQ\
                EoQAIUBwEDC47xSAcEBYEAaEBqFASBAShMi36ftC+B+sgMJBYVEYFBqFRqFQSBQCBUfB30FgBRQOCovCoDAoNAqFQqIQ913GCiiAcN85\
                QOGgsCgMCo1CoVAoJAqBgqPwEFC4MBwYFoaBoWFoGAqGhCFgcBj8HQV2gOHAsDAsDANDw1AwJAwBQ8DgMKBwYTgwHBgWhqn3M8MDB0PB\
                kDAEDD5PlYHYAYeDw+IwODQOjUPhkDgEDo6Dv8PADjgcHBaH/d4xZQccCofEIXAIHBwHGC4OB4eDw+IwODQOhUPhkDgEDo7DOwwcYSZD\
                YVEYFBqFRqFQSBQCBUfB388RG6BwUFgUFoVBoVEoFBKFRCFQ8Hz2jAMWCgeFRWFQaBQKhUIhUQgUfN7PuDE/BgeDxWCO/ymllFJKKaWU\
                UkoppZRSSimllFJKKaWUUkoppZRSSimllFJKKaWUUkoppZRSSimllFJKKaWUUkoppZRSSimllFJKKaWUUkoppdSP+vT+bL0/W+/P1vuz\
                9f5svT97jv8Do5yvmVCBAAA=
                """)!)

    private func decoded(_ bytes: [UInt8], by size: Int, _ coding: String = "gzip") throws(HTTPFailure) -> [UInt8] {
        guard var decoder = ContentDecoder(["Content-Encoding": coding], ratio: 250) else { return [] }
        var text: [UInt8] = [], rest = bytes[...]
        while !rest.isEmpty {
            text += try decoder.decode(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        try decoder.finish()
        return text
    }

    @Test(arguments: [1, 2, 7, 100, 1_000_000])
    func `content is decoded alike in pieces of any size`(size: Int) throws {
        #expect(try decoded(Self.compressed, by: size) == Self.text)
        #expect(try decoded(Self.compressed + Self.compressed + [0, 0], by: size) == Self.text + Self.text)
        // Blocks that are not compressed, with and without the format of zlib.
        let stored: [UInt8] = [0, 2, 0, 253, 255, 104, 105, 1, 1, 0, 254, 255, 33]
        #expect(try decoded(stored, by: size, "deflate") == Array("hi!".utf8))
        #expect(try decoded([120, 1] + stored + [2, 46, 0, 243], by: size, "deflate") == Array("hi!".utf8))
    }

    @Test func `any factor can be a limit`() throws {
        var decoder = try #require(ContentDecoder(["Content-Encoding": "gzip"], ratio: .max))
        #expect(try decoder.decode(Self.compressed) == Self.text)
    }

    @Test func `damaged and incomplete content is an error`() {
        for index in stride(from: 10, to: Self.compressed.count, by: 37) {
            var damaged = Self.compressed
            damaged[index] ^= 1
            #expect(throws: HTTPFailure.self) { try decoded(damaged, by: 100) }
            #expect(throws: HTTPFailure.self) { try decoded(Array(Self.compressed.prefix(index)), by: 100) }
        }
        #expect(throws: HTTPFailure.self) { try decoded(Self.compressed + [1], by: 100) }
    }
}
