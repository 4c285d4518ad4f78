import Foundation

/// The parsing of the arguments of `backplane transfer` that are texts.
enum TransferWords {
    /// Parses a SHA-256 in hexadecimal.
    static func digest(_ text: String) throws(Misuse) -> [UInt8] {
        let digits = Array(text.utf8)
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count - 1, by: 2) {
            let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
            if let byte = UInt8(pair, radix: 16), !pair.hasPrefix("+") { bytes.append(byte) }
        }
        guard digits.count == 64, bytes.count == 32 else {
            throw Misuse(description: "--sha256: expected 64 hexadecimal digits, found `\(text.prefix(80))`")
        }
        return bytes
    }

    /// Returns the target path of a download: the given file, or a file in the given folder named after the URL.
    static func target(_ file: String?, _ url: String) throws(Misuse) -> String {
        var isFolder = false
        if let file, !file.hasSuffix("/"),
            !(FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) && isFolder)
        {
            return file
        }
        let folder = file.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        let encoded = URLComponents(string: url)?.percentEncodedPath.split(separator: "/").last.map(String.init) ?? ""
        // A name that would escape the folder is not used.
        let name = encoded.removingPercentEncoding ?? encoded
        guard !["", ".", ".."].contains(name), !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 < 0x20 })
        else {
            throw Misuse(description: "the URL does not end with a file name; specify one after the URL")
        }
        return folder + name
    }
}
