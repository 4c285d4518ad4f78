public import Backplane
public import FoundationEssentials

extension ManifestValue {
    /// Reads JSON, an XML property list or a binary one, told apart by what the bytes begin with.
    ///
    /// - Throws: `manifest.malformed` with the line and column or the parser's own words; `manifest.unsupported` beyond 16 MB
    ///   or 64 levels.
    public init(parsing bytes: Data) throws(BackplaneError) {
        guard bytes.count <= ManifestLimits.bytes else {
            throw BackplaneError(.manifestUnsupported, "the manifest is larger than \(ManifestLimits.bytes >> 20) MB")
        }
        switch ManifestFormat(of: bytes) {
        case .json: self = try JSONReader.read(bytes)
        case .xml: self = try PropertyListReader.read(bytes)
        case .binary: self = try BinaryPropertyListReader.read(bytes)
        }
    }
}

/// The spelling of a manifest.
enum ManifestFormat {
    case json, xml, binary

    init(of bytes: Data) {
        if bytes.starts(with: "bplist".utf8) {
            self = .binary
        } else {
            let first = bytes.withoutByteOrderMark.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }
            self = first == UInt8(ascii: "<") ? .xml : .json
        }
    }
}

extension Data {
    /// Some editors begin UTF-8 files with one.
    var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}
