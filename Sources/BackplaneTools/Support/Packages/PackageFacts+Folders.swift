import Backplane
import BackplaneHost
import FoundationEssentials

/// The default folders in which SwiftPM looks for the sources of targets.
extension PackageFacts {
    /// Returns the folder of a target, relative to the package.
    package func folder(of target: PackageTarget, in root: String) -> String {
        if let path = target.path { return path.isEmpty ? "." : path }
        let holder = holder(of: target.kind, in: root), own = FilePath.join(holder, target.name)
        // A target that is the only one of its kind may occupy the whole folder.
        let isAlone = toolsVersion >= Self.relaxed && targets.count { $0.kind == target.kind } == 1
        return isAlone && !FileManager.default.fileExists(atPath: FilePath.join(root, own)) ? holder : own
    }

    /// Returns the folder that contains the folders of the targets: the first candidate that exists, or else the first.
    package func holder(of kind: PackageTarget.Kind, in root: String) -> String {
        let sources = ["Sources", "Source", "src", "srcs"]
        let names =
            switch kind {
            case .source: sources
            case .test: ["Tests"] + sources
            case .plugin: ["Plugins"]
            }
        return names.first { Self.isFolder(FilePath.join(root, $0)) } ?? names[0]
    }

    /// Returns the folder for new targets, which for tests is `Tests` unless existing tests are elsewhere.
    package func newHolder(of kind: PackageTarget.Kind, in root: String) -> String {
        let isUsed = targets.contains { $0.kind == kind && $0.path == nil }
        return isUsed || kind != .test ? holder(of: kind, in: root) : "Tests"
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }

    /// The first tools version with which a single target does not need its own folder.
    private static let relaxed = Version(5, 9)
}

extension PackageFacts.PackageTarget {
    /// The kinds of targets that SwiftPM has default folders for; `plugin` is a SwiftPM plugin, not one of Backplane's.
    package enum Kind: Sendable, Hashable {
        case source, test, plugin
    }

    package var kind: Kind {
        switch type {
        case "test": .test
        case "plugin": .plugin
        default: .source
        }
    }
}
