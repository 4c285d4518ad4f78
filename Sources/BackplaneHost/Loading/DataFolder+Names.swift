/// Folder names that show the owners of the folders.
extension DataFolder {
    /// Returns the manifest's file name, for readability, with a hash of its path that distinguishes manifests of one
    /// name.
    static func folderName(manifest path: String) -> String {
        // The name of a file may already be as long as a folder's may be.
        let name = escaped(FilePath.name(of: path)).prefix(100)
        let hash = String(stableHash(path), radix: 16)
        return "\(name)-" + String(repeating: "0", count: 16 - hash.count) + hash
    }

    /// Returns `name` with all bytes except A–Z, a–z, 0–9, `.`, `_` and `-` written as `%` and two hexadecimal digits.
    static func escaped(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    /// Returns the name of the folder of a component that uses the network.
    static func name(of folder: NetworkFolderName) -> String {
        switch folder {
        case .namespace(let name): escaped(name)
        case .place(let manager, let label): "\(escaped(manager))@\(escaped(label))"
        }
    }

    /// Returns the 64-bit FNV-1a hash, which unlike `Hasher` is stable across processes but is not secure against
    /// attacks.
    private static func stableHash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
