import Backplane
import BackplaneDocuments
import BackplaneHost
import BackplaneTools
import Foundation

/// The rows for a manifest of 1,000 managers with 4,000 components, chosen from 6,000 classes, before anything starts.
struct CrowdRows: Sendable {
    /// The prepared input of the measurements.
    private struct Material: Sendable {
        var text: Data
        var path: String
        var document: ManifestDocument
        var entries: [Catalogue.Entry]
        var classes: [ComponentClass]
    }
    private let folder: String
    private let material: LazyValue<Material>

    init(in folder: String) {
        self.folder = folder
        material = LazyValue { try Self.prepare(in: folder) }
    }

    var rows: [Row] {
        let folder = folder, material = material
        return [
            .duration("parsing the manifest of 1,000 managers", limit: 1) {
                let text = try await material.value().text
                return try Row.timed { ManifestDocument(parsing: text).problems }
            },
            .duration("cataloguing 6,000 classes", limit: 1) {
                let entries = try await material.value().entries
                let start = ContinuousClock.now
                let catalogue = Catalogue(entries)
                let time = ContinuousClock.now - start
                return catalogue.entries.isEmpty ? .zero : time
            },
            .duration("resolving 1,000 managers with 4,000 components", target: .median(atMost: 50), limit: 1) {
                let material = try await material.value(), catalogue = Catalogue(material.entries)
                return try Row.timed { Resolution(material.document, catalogue: catalogue).problems }
            },
            .duration("resolving, with 5,000 configurations looked at by their classes", limit: 1) {
                let material = try await material.value(), catalogue = Catalogue(material.entries),
                    classes = material.classes
                return try Row.timed {
                    Resolution(material.document, catalogue: catalogue) { entry, configuration in
                        classes[entry.index].review(Array(configuration))
                    }.problems
                }
            },
            .process("backplane check on 1,000 managers, whole process", target: .median(atMost: 150)) {
                [
                    "check", try await material.value().path, "--load-folder", folder + "/load", "--data",
                    folder + "/data",
                ]
            },
        ]
    }

    private static func prepare(in folder: String) throws -> Material {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = Crowd().manifest.json, path = folder + "/crowd.json"
        try text.write(to: URL(filePath: path))
        let loads = try LoadFolder(in: folder + "/load")
        defer { loads.remove() }
        let plugin = try LibraryFile.prepare(BuiltLibrary.path(of: "BenchmarkCrowd"), in: loads).describe()
        let entries = plugin.components.enumerated().map { index, component in
            Catalogue.Entry(
                plugin: plugin.id, pluginVersion: plugin.version, order: 0, index: index,
                component: component.description)
        }
        return Material(
            text: text, path: path, document: ManifestDocument(parsing: text, path: path), entries: entries,
            classes: plugin.components)
    }
}
