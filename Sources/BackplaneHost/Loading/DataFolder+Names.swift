/// Names of folders that say what they belong to.
extension DataFolder {
    /// The manifest's file name, for people, and a hash of its path, which tells two of one name apart.
    static func folderName(manifest path: String) -> String {
        // A file's name may be as long as a folder's already.
        let name = escaped(FilePath.name(of: path)).prefix(100)
        let hash = String(stableHash(path), radix: 16)
        return "\(name)-" + String(repeating: "0", count: 16 - hash.count) + hash
    }

    /// `name` with every byte outside A–Z, a–z, 0–9, `.`, `_` and `-` as `%` and two hexadecimal digits.
    static func escaped(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    /// FNV-1a, 64 bits: the same in every process and release, which `Hasher` is not. It keeps names apart, not enemies out.
    private static func stableHash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
