import BackplaneDocuments
import BackplaneHost

/// The names of manifest formats that `--to` accepts.
enum ManifestFormatName {
    static let names = ManifestFormat.allCases.map(\.rawValue)

    struct Unknown: Error, CustomStringConvertible {
        let description: String
    }

    static func format(_ name: String) throws(Unknown) -> ManifestFormat {
        guard let format = ManifestFormat(rawValue: name) else {
            throw Unknown(description: "expected one of \(names.joined(separator: ", ")), found `\(name)`")
        }
        return format
    }
}
