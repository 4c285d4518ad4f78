extension PropertyListReader {
    /// Checks that the XML declaration, if any, names the encoding in which the text is read.
    ///
    /// ASCII is a subset of that encoding; text in any other encoding would be misread.
    mutating func requireKnownEncoding() throws(Mistake) {
        guard let start = bytes.end(of: "<?xml", at: 0) else { return }
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: ">") { end += 1 }
        let declaration = String(decoding: bytes[start..<min(end, start + 1_024)], as: UTF8.self)
        guard let match = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/) else { return }
        let encoding = String(match.output.1)
        guard !["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased()) else { return }
        throw Mistake(
            offset: start,
            reason: "expected the encoding UTF-8, found `\(encoding.prefix(64))`; save the file as UTF-8",
            kind: .unsupported)
    }
}
