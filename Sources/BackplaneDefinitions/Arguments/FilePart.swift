import BackplaneNetwork

/// A file that a method sends in a form, as an argument named in the definition's `files`.
///
/// ```swift
/// let cover = FilePart("cover", path: "/data/whale.png", type: "image/png")
/// let receipt: Receipt = try await shop.sendPictures([cover])
/// ```
public struct FilePart: Sendable {
    let part: HTTPPart
    private let description: Description
    /// The path of the file; `nil` for bytes in memory.
    var path: String? { description.path }

    /// The encodable properties of the part.
    private struct Description: Encodable {
        var name: String
        var path, fileName: String?
        var type: String
    }

    /// Creates a part that is read from a file while it is sent.
    ///
    /// - Parameters:
    ///   - name: The name of the form's field.
    ///   - path: The path of the file, inside a component relative to its folder.
    ///   - fileName: The file name that is sent; `nil` means the last component of the path.
    ///   - type: The media type.
    public init(
        _ name: String, path: String, fileName: String? = nil, type: String = "application/octet-stream"
    ) {
        part = .file(name, path, fileName: fileName, type: type)
        description = Description(name: name, path: path, fileName: fileName, type: type)
    }

    /// Creates a part with bytes in memory.
    ///
    /// - Parameters:
    ///   - name: The name of the form's field.
    ///   - bytes: The content.
    ///   - fileName: The file name that is sent.
    ///   - type: The media type.
    public init(_ name: String, bytes: [UInt8], fileName: String, type: String = "application/octet-stream") {
        part = .bytes(name, bytes, fileName: fileName, type: type)
        description = Description(name: name, fileName: fileName, type: type)
    }
}

extension FilePart {
    /// Returns the same part with the file at another path.
    func moved(to path: String) -> FilePart {
        guard let old = description.path else { return self }
        let last = old.split(separator: "/").last.map(String.init) ?? old
        return FilePart(description.name, path: path, fileName: description.fileName ?? last, type: description.type)
    }
}

extension FilePart: Encodable {
    /// Encodes the properties of the part, without its content, so that it can be an argument.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
