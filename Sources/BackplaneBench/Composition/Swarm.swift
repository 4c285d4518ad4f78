import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneHost
import BackplaneSwapLoad
import Foundation

/// Copies of a library that are separate plugins, and a manifest with one manager of each.
struct Swarm {
    /// A library that can be copied in this way: its identifier, which is also its class name, ends with four digits.
    enum Kind: String {
        case c = "C", swift = "Swift"

        fileprivate var library: String {
            switch self {
            case .c: "_BenchmarkDrone"
            case .swift: "_BenchmarkSwarm"
            }
        }

        /// Returns the identifier of a copy; the library itself has number 0.
        fileprivate func id(_ number: Int) -> String {
            let digits = String(number), stem = self == .c ? "drone" : "swarm"
            return "org.backplane.\(stem)-" + String(repeating: "0", count: 4 - digits.count) + digits
        }

        /// The number of libraries in a full run; a Swift library contains the SDK, and is a hundred times as large.
        var count: Int { self == .c ? 500 : 50 }
    }
    let folder: String
    /// The folder to which hosts copy the libraries.
    let loads: String

    var manifest: String { folder + "/swarm.json" }
    var document: ManifestDocument { ManifestDocument(contentsOf: manifest) }

    /// Writes the files, with their SHA-256 digests in the manifest.
    func make(_ count: Int, of kind: Kind) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let library = try Data(contentsOf: URL(filePath: BuiltLibrary.path(of: kind.library)))
        let places = library.places(of: Data(kind.id(0).utf8))
        guard !places.isEmpty else {
            throw BackplaneError(
                .pluginInvalidAnswer, "the library does not contain its id `\(kind.id(0))` as text; rebuild it",
                at: folder)
        }
        var plugins: [ManifestValue] = [], managers: [String: ManifestValue] = [:]
        for number in 1...count {
            let id = kind.id(number), name = "libSwarm\(number).so"
            var copy = library
            for place in places { copy.replaceSubrange(place, with: id.utf8) }
            try copy.write(to: URL(filePath: folder + "/" + name))
            let sha256 = ContentDigest.sha256(of: Array(copy)).hexadecimal
            plugins.append(["library": .string(name), "sha256": .string(sha256)])
            managers["Manager\(number)"] = ["className": .string(id)]
        }
        let manifest: ManifestValue = [
            "manifestVersion": 1, "plugins": .array(plugins), "managers": .dictionary(managers),
        ]
        try manifest.json.write(to: URL(filePath: self.manifest))
    }
}

extension Data {
    fileprivate func places(of text: Data) -> [Range<Int>] {
        var places: [Range<Int>] = [], start = startIndex
        while let place = range(of: text, in: start..<endIndex) {
            places.append(place)
            start = place.upperBound
        }
        return places
    }
}
