internal import Backplane
internal import FoundationEssentials

/// Reads a spelling of manifests that is text, and knows where in it a mistake is.
protocol ManifestTextReader {
    typealias Mistake = ManifestMistake

    var bytes: [UInt8] { get }
    init(_ data: Data)
    mutating func document() throws(ManifestMistake) -> ManifestValue
}

/// What is wrong with a text, and at which byte.
struct ManifestMistake: Error {
    var offset: Int
    var reason: String
    var code = BackplaneError.Code.manifestMalformed
}

extension ManifestTextReader {
    static func read(_ data: Data) throws(BackplaneError) -> ManifestValue {
        var reader = Self(data)
        do {
            return try reader.document()
        } catch {
            throw BackplaneError(error.code, "\(reader.position(of: error)): \(error.reason)")
        }
    }

    /// Where the mistake is in text that `read` does not take; `nil` where there is none.
    static func positionOfMistake(in data: Data) -> SourcePosition? {
        var reader = Self(data)
        do {
            _ = try reader.document()
            return nil
        } catch {
            return reader.position(of: error)
        }
    }

    private func position(of mistake: ManifestMistake) -> SourcePosition {
        SourcePosition.positions(of: [mistake.offset], in: bytes)[mistake.offset]!
    }
}
