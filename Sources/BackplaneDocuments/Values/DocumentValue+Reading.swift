public import Backplane
public import FoundationEssentials

extension ManifestValue {
    /// Reads JSON, an XML property list or a binary one, told apart by what the bytes begin with.
    ///
    /// - Throws: `manifest.malformed`, of a text with line and column; `manifest.unsupported` beyond 16 MB, 64 levels or a
    ///   million values.
    public init(parsing bytes: Data) throws(BackplaneError) {
        guard bytes.count <= ManifestLimits.bytes else {
            throw BackplaneError(.manifestUnsupported, ManifestLimits.tooLarge)
        }
        switch ManifestFormat(of: bytes) {
        case .json: self = try JSONReader.read(bytes)
        case .xml: self = try PropertyListReader.read(bytes)
        case .binary: self = try BinaryPropertyListReader.read(bytes)
        }
    }
}

extension Data {
    /// Some editors begin UTF-8 files with one.
    var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}
