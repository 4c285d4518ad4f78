public import Backplane
public import FoundationEssentials

extension ManifestValue {
    /// The value as a file, the same bytes for the same value: for people to read, as far as the format is for people.
    ///
    /// JSON has neither data nor dates: they become base64 and seconds since the reference date, as in ``json``.
    ///
    /// - Throws: `manifest.unsupported` at a value that the format cannot hold: null in a property list, a number that is not
    ///   finite in JSON, a control character in XML.
    public func encoded(as format: ManifestFormat) throws(BackplaneError) -> Data {
        let shape = ManifestShape.whole(self)
        try requireReadable()
        let bytes = switch format {
        case .json: try JSONWriter.write(self, shape)
        case .xml: try PropertyListWriter.write(self, shape)
        case .binary: try BinaryPropertyListWriter.write(self, shape)
        }
        guard bytes.count <= ManifestLimits.bytes else {
            throw Self.unwritable("the manifest would be larger than \(ManifestLimits.bytes >> 20) MB, which could not be read again", at: ManifestPath())
        }
        return bytes
    }

    /// - Throws: `manifest.unsupported` for what is beyond the limits and could not be read again.
    private func requireReadable() throws(BackplaneError) {
        var values = 0
        func depth(_ value: ManifestValue, _ above: Int) -> Int {
            values += 1
            return switch value {
            case _ where above > ManifestLimits.depth: above
            case .array(let values): values.reduce(above + 1) { max($0, depth($1, above + 1)) }
            case .dictionary(let members): members.values.reduce(above + 1) { max($0, depth($1, above + 1)) }
            default: above
            }
        }
        guard depth(self, 0) <= ManifestLimits.depth else { throw Self.unwritable(ManifestLimits.tooDeep, at: ManifestPath()) }
        guard values <= ManifestLimits.values else { throw Self.unwritable(ManifestLimits.tooManyValues, at: ManifestPath()) }
    }

    static func unwritable(_ reason: String, at path: ManifestPath) -> BackplaneError {
        BackplaneError(.manifestUnsupported, reason, at: path.description)
    }

    /// Where there are values that JSON has no kind for, in the order of their places.
    package var foreignToJSON: [(location: String, kind: String)] {
        var found: [(String, String)] = []
        collectForeign(at: ManifestPath(), &found)
        return found
    }

    private func collectForeign(at path: ManifestPath, _ found: inout [(String, String)]) {
        switch self {
        case .data, .date: found.append((path.description, kind))
        case .array(let values): for (index, value) in values.enumerated() { value.collectForeign(at: path / index, &found) }
        case .dictionary(let members): for (key, value) in members.sorted(by: { $0.key < $1.key }) { value.collectForeign(at: path / key, &found) }
        default: break
        }
    }
}
