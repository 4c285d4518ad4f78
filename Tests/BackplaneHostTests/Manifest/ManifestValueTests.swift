import Backplane
import BackplaneDocuments
import BackplaneHost
import FoundationEssentials
import TestFixtures
import Testing

@Suite(.timeLimit(.minutes(5)))
struct `Manifest values` {
    static let json = #"""
        {"name": "Moby-Dick; or, \"The Whale\" \u00e9\ud83d\udc0b", "pages": 635, "price": 12.5, "lent": false, "tags": ["sea", 1851], "none": {}}
        """#
    static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict>
        <key>name</key><string>Moby-Dick; or, "The Whale" é🐋</string><key>pages</key><integer>635</integer>
        <key>price</key><real>12.5</real><key>lent</key><false/>
        <key>tags</key><array><string>sea</string><real>1851.0</real></array><key>none</key><dict/>
        </dict></plist>
        """
    static let value: ManifestValue = [
        "name": "Moby-Dick; or, \"The Whale\" é🐋", "pages": 635, "price": 12.5, "lent": false, "tags": ["sea", 1851],
        "none": [:],
    ]

    struct Book: Encodable {
        var name = "Moby-Dick; or, \"The Whale\" é🐋", pages = 635, price = 12.5, lent = false
        var tags = Tags(), none: [String: String] = [:]

        struct Tags: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode("sea")
                try container.encode(1851)
            }
        }
    }

    static func binary(_ value: some Encodable) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(value)
    }

    @Test func `JSON, an XML property list and a binary one are the same value, told apart by content`() throws {
        #expect(try ManifestValue(parsing: Data(Self.json.utf8)) == Self.value)
        #expect(try ManifestValue(parsing: Data(Self.xml.utf8)) == Self.value)
        #expect(try ManifestValue(parsing: Self.binary(Book())) == Self.value)
    }

    @Test(arguments: [json, xml])
    func `A byte order mark and space before the text are no matter`(text: String) throws {
        let trimmed = text.hasPrefix("<?xml") ? String(text.drop { $0 != "\n" }) : "\n \t" + text
        #expect(try ManifestValue(parsing: Data("\u{FEFF}\(trimmed)".utf8)) == Self.value)
    }

    @Test func `A binary property list that is cut off or changed anywhere is an error or a value, never a crash`()
        throws
    {
        let whole = try Self.binary(Book())
        for length in 6..<whole.count {
            #expect(throws: BackplaneError.self) { try ManifestValue(parsing: whole.prefix(length)) }
        }
        for index in 6..<whole.count {
            for byte: UInt8 in [0, 1, 0x1F, 0x7F, 0x80, 0xAF, 0xDF, 0xFF] {
                var changed = whole
                changed[index] = byte
                do { _ = try ManifestValue(parsing: changed) } catch { #expect(error.code != .manifestUnreadable) }
            }
        }
    }

    @Test func `Property lists also hold data and dates`() throws {
        struct Kept: Codable, Equatable {
            var bytes = Data([1, 2, 255]), day = Date(timeIntervalSinceReferenceDate: 86_400.5)
        }
        let value = try ManifestValue(parsing: Self.binary(Kept()))
        #expect(
            value == ["bytes": .data(Data([1, 2, 255])), "day": .date(Date(timeIntervalSinceReferenceDate: 86_400.5))])
        let coded = #"{"bytes":"AQL\/","day":86400.5}"#
        #expect(
            try JSONDecoder().decode(Kept.self, from: Data(coded.utf8))
                == JSONDecoder().decode(Kept.self, from: value.json))
        #expect(String(decoding: value.json, as: UTF8.self) == #"{"bytes":"AQL/","day":86400.5}"#)
    }

    @Test func `JSON comes out the same for the same value, keys sorted, and reads back`() throws {
        let value: ManifestValue = ["b": [1, 2.5, nil, true], "a": "é\"\\\n\u{1}/\u{7F}", "": ["z": 1.0, "y": [:]]]
        #expect(
            String(decoding: value.json, as: UTF8.self)
                == #"{"":{"y":{},"z":1},"a":"é\"\\\n\u0001/\#u{7F}","b":[1,2.5,null,true]}"#)
        #expect(try ManifestValue(parsing: value.json) == value)
        #expect(
            try JSONDecoder().decode([String: [Double?]].self, from: ManifestValue.dictionary(["b": [1, nil]]).json)
                == ["b": [1, nil]])
    }

    @Test func `A whole number is one value however it is spelled, and its digits survive`() throws {
        #expect(
            try ManifestValue(parsing: Data("[1, 1.0, 1e0, 9007199254740993, -0]".utf8)) == [
                1, 1, 1, .integer(9_007_199_254_740_993), 0,
            ])
        #expect(try ManifestValue(parsing: Data("[18446744073709551615]".utf8)) == .array([.number(0x1p64)]))
    }

    @Test(arguments: [
        ("", "line 1, column 1: the manifest is empty; a manifest is a dictionary"),
        (" \n ", "line 2, column 2: the manifest is empty; a manifest is a dictionary"),
        ("{\"a\": 1,\n  \"b\": tru}", "line 2, column 8: expected a value, found `t`"),
        ("{\"é\": x}", "line 1, column 7: expected a value, found `x`"),
        ("{\"a\": 1,}", "line 1, column 9: expected a key in quotes, found `}`"),
        ("[1,]", "line 1, column 4: expected a value, found `]`"),
        ("{\"a\" 1}", "line 1, column 6: expected `:` after `a`, found `1`"),
        ("{\"a\": 1", "line 1, column 8: expected `,` or `}`, found the end of the file"),
        ("{} {}", "line 1, column 4: `{` after the end of the manifest"),
        ("{\n\"a\": 1,\n\"a\": 2}", "line 3, column 1: the key `a` is repeated"),
        ("[01]", "line 1, column 2: a number starts with a digit, and with 0 only if no other digit follows"),
        ("[-]", "line 1, column 2: a number starts with a digit, and with 0 only if no other digit follows"),
        ("[1.]", "line 1, column 4: expected a digit, found `]`"),
        ("[1e999]", "line 1, column 2: a number out of range"),
        ("[\"a\nb\"]", "line 1, column 4: a control character in a string; write it as an escape such as `\\n`"),
        ("[\"abc", "line 1, column 2: this string does not end"),
        ("[\"\\x\"]", "line 1, column 3: an unknown escape"),
        ("[\"\\u12\"]", "line 1, column 3: expected four hexadecimal digits after `\\u`"),
        ("[\"\\ud83d\"]", "line 1, column 3: half of a surrogate pair"),
        ("[\"\\udc0b\"]", "line 1, column 3: half of a surrogate pair"),
        ("(a, b)", "line 1, column 1: expected a value, found `(`"),
    ])
    func `Malformed JSON is one error with its line and column`(text: String, message: String) {
        #expect(throws: BackplaneError(.manifestMalformed, message)) { try ManifestValue(parsing: Data(text.utf8)) }
    }

    @Test(
        arguments: [
            (
                "<dict><key>a</key><array><true/><dict><key>b</key><true/><key>c</key><true/><key>b</key><true/></dict></array></dict></plist>",
                .manifestMalformed, "the key `b` is repeated", "/a/1/b"
            ),
            (
                "<dict><key>a</key><array><integer>x</integer></array></dict></plist>", .manifestMalformed,
                "the text of this element is not a valid number, date or data", "/a/0"
            ),
            (
                "<dict><key>a</key></dict></plist>", .manifestMalformed,
                "Value missing for key inside <dict> at line 1", nil
            ),
            ("<dict/></plist>x", .manifestMalformed, "text after the end of the property list", nil),
            ("<!-- <dict/>", .manifestMalformed, "expected `-->` after `<!--`, found the end of the file", nil),
        ] as [(String, BackplaneError.Code, String, String?)])
    func `A malformed XML property list is one error with the path of its value`(
        text: String, code: BackplaneError.Code, message: String, path: String?
    ) {
        #expect(throws: BackplaneError(code, message, at: path)) {
            try ManifestValue(parsing: Data("<plist>\(text)".utf8))
        }
    }

    @Test(arguments: ["UTF-16", "ISO-8859-1"])
    func `An XML property list in another encoding is not supported`(encoding: String) {
        let text = "<?xml version=\"1.0\" encoding=\"\(encoding)\"?><plist><dict/></plist>"
        let words = "expected the encoding UTF-8, found `\(encoding)`; save the file as UTF-8"
        #expect(throws: BackplaneError(.manifestUnsupported, words)) { try ManifestValue(parsing: Data(text.utf8)) }
    }

    @Test func `Comments and sections of text in an XML property list do not nest`() throws {
        let text = "<plist><array><!-- <array><array> --><string><![CDATA[</array><array>]]></string></array></plist>"
        #expect(try ManifestValue(parsing: Data(text.utf8)) == ["</array><array>"])
    }

    @Test func `A string that is not UTF-8 is malformed`() {
        #expect(throws: BackplaneError(.manifestMalformed, "line 1, column 2: this string is not UTF-8")) {
            try ManifestValue(parsing: Data([0x5B, 0x22, 0xFF, 0x22, 0x5D]))
        }
    }
}

@Suite(.timeLimit(.minutes(5)))
struct `Limits of a manifest` {
    static func nested(_ depth: Int, _ open: String, _ close: String) -> String {
        String(repeating: open, count: depth) + String(repeating: close, count: depth)
    }

    @Test(arguments: [65, 1_000_000])
    func `Nesting beyond 64 levels is an error, in every spelling`(depth: Int) throws {
        #expect(throws: BackplaneError(.manifestUnsupported, "line 1, column 65: nested deeper than 64 levels")) {
            try ManifestValue(parsing: Data(Self.nested(depth, "[", "]").utf8))
        }
        let path = String(repeating: "/0", count: 64)
        #expect(throws: BackplaneError(.manifestUnsupported, "nested deeper than 64 levels", at: path)) {
            try ManifestValue(parsing: Data("<plist>\(Self.nested(depth, "<array>", "</array>"))</plist>".utf8))
        }
        #expect(throws: BackplaneError(.manifestUnsupported, "nested deeper than 64 levels")) {
            try ManifestValue(parsing: BinaryPropertyList.chain(min(depth, 1_000)))
        }
    }

    @Test func `A document type with declarations of its own is not supported`() {
        let text = "<!DOCTYPE plist [<!ENTITY a \"aaaaaaaa\">]><plist><string>&a;</string></plist>"
        let words = "the document type contains declarations, which a property list cannot have"
        #expect(throws: BackplaneError(.manifestUnsupported, words)) { try ManifestValue(parsing: Data(text.utf8)) }
    }

    @Test func `A binary property list that contains itself, or unfolds without end, is an error`() throws {
        #expect(throws: BackplaneError(.manifestUnsupported, "nested deeper than 64 levels")) {
            try ManifestValue(parsing: BinaryPropertyList([[0xA1, 0]]).data)
        }
        #expect(throws: BackplaneError(.manifestUnsupported, "the manifest has more than 1000000 values")) {
            try ManifestValue(parsing: BinaryPropertyList((1...60).map { [0xA2, $0, $0] } + [[0x08]]).data)
        }
    }

    @Test(arguments: ["{}", "<plist><dict/></plist>", "bplist00"])
    func `What is larger than 16 MB is not looked at, in every spelling`(text: String) {
        let bytes = Data(text.utf8) + Data(repeating: 0x20, count: 16 << 20)
        let document = ManifestDocument(parsing: bytes, path: "m")
        #expect(
            document.problems == [
                Problem(
                    .error, manager: nil,
                    BackplaneError(.manifestUnsupported, "the manifest is larger than 16 MB", at: "m"), position: nil)
            ])
    }
}

/// A binary property list put together from its objects, each with one-byte references.
struct BinaryPropertyList {
    var data: Data

    init(_ objects: [[UInt8]], bytesPerReference: UInt8 = 1) {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += Self.bigEndian(UInt32(offset)) }
        bytes += [0, 0, 0, 0, 0, 0, 4, bytesPerReference]
        for number in [objects.count, 0, table] { bytes += Self.bigEndian(UInt64(number)) }
        data = Data(bytes)
    }

    /// Arrays inside one another, the innermost empty.
    static func chain(_ depth: Int) -> Data {
        let arrays = (1..<depth).map { [0xA1] + bigEndian(UInt16($0)) }
        return BinaryPropertyList(arrays + [[0xA0]], bytesPerReference: 2).data
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
